/** What we compute: how a test notification fares, from what Apple says of it and what is here. */
import type { TestStatus } from '../apple/api/server_answers.ts'

/**
 * `asked` Apple has not sent it; `sent` Apple says it was taken, and it is not here; `arrived`; `waiting` it is here, for
 * an app that is not connected; `failed`.
 */
type TestDelivery = { state: 'asked' | 'sent' | 'arrived' | 'waiting' | 'failed'; words: string }

/** Whether a notification is here, by its UUID. */
export type HasArrived = (uuid: string) => 'arrived' | 'waiting' | null

/** What Apple's word for a failed attempt means (send attempt results of the App Store Server API). */
const MEANINGS: Readonly<Record<string, string>> = {
  TIMED_OUT: 'nobody answered in time: is Windfall running, and does the address reach it from the internet?',
  TLS_ISSUE: 'the certificate or the TLS version (at least 1.2) of the address is not to Apple’s liking.',
  CIRCULAR_REDIRECT: 'the address redirects to itself: Apple follows no redirects, so enter where they lead.',
  NO_RESPONSE: 'the address answered nothing: does the proxy pass it on to Windfall?',
  SOCKET_ISSUE: 'no connection came about: is a firewall in the way of 17.0.0.0/8, Apple’s addresses?',
  UNSUPPORTED_CHARSET: 'the answer came in an unknown character set: something else than Windfall answered.',
  INVALID_RESPONSE: 'the answer was no HTTP: something else than Windfall answered.',
  PREMATURE_CLOSE: 'the connection was closed before the answer was whole: look at the proxy.',
  UNSUCCESSFUL_HTTP_RESPONSE_CODE:
    'the address answered with an error: look at the log of Windfall and of the proxy; 421 means that base_url is another host.',
  OTHER: 'Apple says no more about it.',
}

/** How a test notification fares. */
export function testDeliveryOf(status: TestStatus, hasArrived: HasArrived): TestDelivery {
  const here = status.payload === null ? null : hasArrived(uuidIn(status.payload))
  if (here === 'arrived') return { state: here, words: 'a test notification arrived' }
  if (here === 'waiting')
    return { state: here, words: 'a test notification arrived, and waits: the app is not connected.' }
  const result = status.attempts.at(-1)?.result ?? null
  if (result === null) return { state: 'asked', words: 'Apple has taken the order, and not sent it yet.' }
  return result === 'SUCCESS'
    ? { state: 'sent', words: OTHER_SERVER }
    : { state: 'failed', words: failed(result) }
}

const failed = (result: string): string =>
  `Apple sent a test notification in vain (${result}): ${MEANINGS[result] ?? MEANINGS.OTHER}`

const OTHER_SERVER =
  'Apple says that the test notification was taken, but not by this Windfall: which address is entered in App Store Connect?'

/** The id of a notification that came from Apple's API. It only looks for what was proved before it was stored. */
function uuidIn(payload: string): string {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(payload.split('.')[1] ?? '', 'base64url').toString())
    const isOne = typeof decoded === 'object' && decoded !== null && 'notificationUUID' in decoded
    return isOne ? String(decoded.notificationUUID) : ''
  } catch {
    return ''
  }
}
