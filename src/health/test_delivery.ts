/** Determines the state of a test notification from Apple's answer and the notifications that Windfall received. */
import type { TestStatus } from '../apple/api/server_answers.ts'

/**
 * The state of a test notification. `asked`: Apple has not sent it yet. `sent`: Apple reports a successful delivery,
 * but Windfall has not received it. `arrived`: Windfall received it. `waiting`: Windfall received it for an app that is
 * not connected. `failed`: Apple could not deliver it.
 */
type TestDelivery = { state: 'asked' | 'sent' | 'arrived' | 'waiting' | 'failed'; words: string }

/** Returns whether Windfall received the notification with this UUID, and if so, whether it is pending (`waiting`). */
export type HasArrived = (uuid: string) => 'arrived' | 'waiting' | null

/** Explanations of Apple's failed delivery results (sendAttemptResult of the App Store Server API). */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  TIMED_OUT:
    'the server did not answer in time. Check that Windfall is running and that the URL is reachable from the internet.',
  TLS_ISSUE: 'Apple does not accept the TLS connection. Check the certificate, and enable TLS 1.2 or later.',
  CIRCULAR_REDIRECT:
    'the URL redirects to itself. Apple does not follow redirects; enter the final URL instead.',
  NO_RESPONSE: 'the server sent no response. Check that the proxy forwards requests to Windfall.',
  SOCKET_ISSUE: 'the connection failed. Check that the firewall allows 17.0.0.0/8, Apple’s addresses.',
  UNSUPPORTED_CHARSET:
    'the response has an unsupported character set, so it is not from Windfall. Check the URL and the proxy.',
  INVALID_RESPONSE:
    'the response is not valid HTTP, so it is not from Windfall. Check the URL and the proxy.',
  PREMATURE_CLOSE: 'the connection was closed before the response was complete. Check the proxy.',
  UNSUCCESSFUL_HTTP_RESPONSE_CODE:
    'the server responded with an error. Check the logs of Windfall and of the proxy. For status 421, set base_url to the host of the URL.',
  OTHER: 'Apple gives no details.',
}

/** The state of a test notification, and the text that describes it. */
export function testDeliveryOf(status: TestStatus, hasArrived: HasArrived): TestDelivery {
  const arrival = status.payload === null ? null : hasArrived(uuidIn(status.payload))
  if (arrival === 'arrived') return { state: arrival, words: 'a test notification arrived' }
  if (arrival === 'waiting')
    return { state: arrival, words: 'a test notification arrived and is pending: the app is not connected.' }
  const result = status.attempts.at(-1)?.result ?? null
  if (result === null)
    return { state: 'asked', words: 'Apple accepted the request and has not sent the test notification yet.' }
  return result === 'SUCCESS'
    ? { state: 'sent', words: OTHER_SERVER }
    : { state: 'failed', words: failed(result) }
}

const failed = (result: string): string =>
  `Apple could not deliver the test notification (${result}): ${EXPLANATIONS[result] ?? EXPLANATIONS.OTHER}`

const OTHER_SERVER =
  'Apple delivered the test notification, but not to this server. Check the notification URL in App Store Connect.'

/** The UUID in an unverified payload from Apple's API. It only serves to look up verified notifications. */
function uuidIn(payload: string): string {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(payload.split('.')[1] ?? '', 'base64url').toString())
    const hasUuid = typeof decoded === 'object' && decoded !== null && 'notificationUUID' in decoded
    return hasUuid ? String(decoded.notificationUUID) : ''
  } catch {
    return ''
  }
}
