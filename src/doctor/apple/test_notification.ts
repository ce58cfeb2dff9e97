/** Requests a test notification and follows it until it arrives. For `windfall connect` and `windfall doctor`. */
import { AppleFault } from '../../apple/api/faults.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { openServerApi, type ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import { type HasArrived, testDeliveryOf } from '../../health/test_delivery.ts'
import type { Reader } from '../../store/reader.ts'
import { type AppleQueryOptions, faultOrResult } from './key_checks.ts'

/**
 * The outcome of a test notification. `words` describes it, with what to do unless `state` is `ok`. `refused`: Apple did
 * not accept the request. `unsent`: Apple has not sent it yet, which says nothing about this server.
 */
type TestResult = { state: 'ok' | 'warning' | 'fault' | 'refused' | 'unsent'; words: string }

const POLL_PAUSE_MS = 2_000
const MAX_POLLS = 30
/** Apple's error code if the app has no notification URL. */
const NO_URL_CODE = '4040007'

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
    if (requested instanceof AppleFault) return resultOfFault(requested)
    return await followTest(api, environment, requested.token, {
      apple,
      hasArrived: openArrivalCheck(reader, app.bundle_id),
    })
  } finally {
    await api.close()
  }
}

function resultOfFault(fault: AppleFault): TestResult {
  const state = fault.code === NO_URL_CODE || fault.kind === 'rate_limited' ? 'warning' : 'refused'
  return { state, words: fault.message }
}

type ArrivalCheck = (environment: Environment, uuid: string) => ReturnType<HasArrived>

function openArrivalCheck(reader: Reader | null, bundle_id: string): ArrivalCheck {
  const selectApplied = reader?.prepare<[string, string, string], unknown>(`
    select 1 from notifications join apps on apps.id = notifications.app_id
    where bundle_id = ? and environment = ? and uuid = ?`)
  const selectPending = reader?.prepare<[string, string], unknown>(
    'select 1 from pending_notifications where bundle_id = ? and uuid = ?',
  )
  return (environment, uuid) => {
    if (selectApplied?.get(bundle_id, environment, uuid)) return 'arrived'
    return selectPending?.get(bundle_id, uuid) ? 'waiting' : null
  }
}

type FollowOptions = { apple: AppleQueryOptions; hasArrived: ArrivalCheck }

async function followTest(
  api: ServerApi,
  environment: Environment,
  token: string,
  { apple, hasArrived }: FollowOptions,
): Promise<TestResult> {
  let sentElsewhere: string | null = null
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await apple.wait(POLL_PAUSE_MS)
    const status = await faultOrResult(api.testStatus(environment, token))
    if (status instanceof AppleFault) return { state: 'fault', words: status.message }
    const { state, words } = testDeliveryOf(status, (uuid) => hasArrived(environment, uuid))
    if (state === 'arrived' || state === 'waiting' || state === 'failed')
      return { state: RESULT_BY_DELIVERY[state], words }
    if (state === 'sent') sentElsewhere = words
  }
  return sentElsewhere === null
    ? { state: 'unsent', words: NOT_SENT }
    : { state: 'fault', words: sentElsewhere }
}

const RESULT_BY_DELIVERY = { arrived: 'ok', waiting: 'warning', failed: 'fault' } as const

const NOT_SENT = 'Apple accepted the request for a test notification but has not sent it within a minute.'
