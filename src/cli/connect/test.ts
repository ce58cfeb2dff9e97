/** Requests a test notification and follows it until it arrives. For `windfall connect` and `windfall doctor`. */
import { AppleFault } from '../../apple/api/faults.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { openServerApi, type ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import { type HasArrived, testDeliveryOf } from '../../health/test_delivery.ts'
import type { Reader } from '../../store/reader.ts'
import { type AppleQueryOptions, faultOrResult } from './checks.ts'

/** The result in words: `ok`, or what to do. */
type TestResult = { state: 'ok' | 'warning' | 'fault'; words: string }

const PAUSE_MS = 2_000
const MAX_LOOKS = 30
const NO_ADDRESS = '4040007'

/** Requests a test notification for one app, and checks whether it reached the database that `reader` reads. */
export async function testNotification(
  app: { bundle_id: string; key: ApiKey },
  environment: Environment,
  apple: AppleQueryOptions,
  reader: Reader | null,
): Promise<TestResult> {
  const { hosts, clock, wait } = apple
  const api = openServerApi({ ...app, clock, hosts: hosts.server, wait })
  try {
    const requested = await faultOrResult(api.requestTest(environment))
    if (requested instanceof AppleFault) return refused(requested)
    return await follow(api, environment, requested.token, {
      apple,
      hasArrived: arrivals(reader, app.bundle_id),
    })
  } finally {
    await api.close()
  }
}

function refused(fault: AppleFault): TestResult {
  const state = fault.code === NO_ADDRESS || fault.kind === 'rate_limited' ? 'warning' : 'fault'
  return { state, words: fault.message }
}

type ArrivalCheck = (environment: Environment, uuid: string) => ReturnType<HasArrived>

function arrivals(reader: Reader | null, bundle_id: string): ArrivalCheck {
  const applied = reader?.prepare<[string, string, string], unknown>(`
    select 1 from notifications join apps on apps.id = notifications.app_id
    where bundle_id = ? and environment = ? and uuid = ?`)
  const waiting = reader?.prepare<[string, string], unknown>(
    'select 1 from pending_notifications where bundle_id = ? and uuid = ?',
  )
  return (environment, uuid) => {
    if (applied?.get(bundle_id, environment, uuid)) return 'arrived'
    return waiting?.get(bundle_id, uuid) ? 'waiting' : null
  }
}

type FollowOptions = { apple: AppleQueryOptions; hasArrived: ArrivalCheck }

async function follow(
  api: ServerApi,
  environment: Environment,
  token: string,
  { apple, hasArrived }: FollowOptions,
): Promise<TestResult> {
  let otherServer: string | null = null
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    await apple.wait(PAUSE_MS)
    const status = await faultOrResult(api.testStatus(environment, token))
    if (status instanceof AppleFault) return { state: 'fault', words: status.message }
    const { state, words } = testDeliveryOf(status, (uuid) => hasArrived(environment, uuid))
    if (state === 'arrived' || state === 'waiting' || state === 'failed')
      return { state: STATES[state], words }
    if (state === 'sent') otherServer = words
  }
  return { state: 'fault', words: otherServer ?? NOT_SENT }
}

const STATES = { arrived: 'ok', waiting: 'warning', failed: 'fault' } as const

const NOT_SENT =
  'Apple accepted the request for a test notification but has not sent it within a minute. Try again later.'
