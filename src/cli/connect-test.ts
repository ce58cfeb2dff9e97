/** The commands `windfall connect` and `windfall doctor`: a test notification, followed until it has arrived. */
import { AppleFault } from '../apple/api/faults.ts'
import type { ApiKey } from '../apple/api/keys.ts'
import { openServerApi, type ServerApi } from '../apple/api/server.ts'
import type { Environment } from '../apple/payloads.ts'
import type { Reader } from '../store/reader.ts'
import { type Asking, orFault } from './connect-checks.ts'

/** How it went, in words: `ok`, or what to do. */
type Tested = { state: 'ok' | 'warning' | 'fault'; words: string }

const PAUSE_MS = 2_000
const LOOKS = 30
const NO_ADDRESS = '4040007'

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

/** Has Apple send a test notification for one app, and says whether it reached the database that `reader` reads. */
export async function testNotification(
  app: { bundle_id: string; key: ApiKey },
  environment: Environment,
  asking: Asking,
  reader: Reader | null,
): Promise<Tested> {
  const { hosts, clock, wait } = asking
  const api = openServerApi({ ...app, clock, hosts: hosts.server, wait })
  try {
    const asked = await orFault(api.requestTest(environment))
    if (asked instanceof AppleFault) return refused(asked)
    return await follow(api, environment, asked.token, {
      asking,
      hasArrived: arrivals(reader, app.bundle_id),
    })
  } finally {
    await api.close()
  }
}

function refused(fault: AppleFault): Tested {
  const state = fault.code === NO_ADDRESS || fault.kind === 'rate_limited' ? 'warning' : 'fault'
  return { state, words: fault.message }
}

type HasArrived = (environment: Environment, uuid: string) => 'applied' | 'waiting' | null

function arrivals(reader: Reader | null, bundle_id: string): HasArrived {
  const applied = reader?.prepare<[string, string, string], unknown>(`
    select 1 from notifications join apps on apps.id = notifications.app_id
    where bundle_id = ? and environment = ? and uuid = ?`)
  const waiting = reader?.prepare<[string, string], unknown>(
    'select 1 from pending_notifications where bundle_id = ? and uuid = ?',
  )
  return (environment, uuid) => {
    if (applied?.get(bundle_id, environment, uuid)) return 'applied'
    return waiting?.get(bundle_id, uuid) ? 'waiting' : null
  }
}

type Following = { asking: Asking; hasArrived: HasArrived }

async function follow(
  api: ServerApi,
  environment: Environment,
  token: string,
  { asking, hasArrived }: Following,
): Promise<Tested> {
  let wasTaken = false
  for (let look = 0; look < LOOKS; look += 1) {
    await asking.wait(PAUSE_MS)
    const status = await orFault(api.testStatus(environment, token))
    if (status instanceof AppleFault) return { state: 'fault', words: status.message }
    const arrived = status.payload === null ? null : hasArrived(environment, uuidIn(status.payload))
    if (arrived !== null) return ARRIVED[arrived]
    const result = status.attempts.at(-1)?.result ?? null
    if (result !== null && result !== 'SUCCESS') return { state: 'fault', words: failed(result) }
    wasTaken ||= result === 'SUCCESS'
  }
  return { state: 'fault', words: wasTaken ? ELSEWHERE : UNSENT }
}

const ARRIVED: Readonly<Record<'applied' | 'waiting', Tested>> = {
  applied: { state: 'ok', words: 'a test notification arrived' },
  waiting: { state: 'warning', words: 'a test notification arrived, and waits: the app is not connected.' },
}

const failed = (result: string): string =>
  `Apple sent a test notification in vain (${result}): ${MEANINGS[result] ?? MEANINGS.OTHER}`

const UNSENT =
  'Apple took the order for a test notification, and has not sent it within a minute: try again later.'
const ELSEWHERE =
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
