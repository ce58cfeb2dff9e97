/** The commands `windfall connect` and `windfall doctor`: a test notification, followed until it has arrived. */
import { AppleFault } from '../../apple/api/faults.ts'
import type { ApiKey } from '../../apple/api/keys.ts'
import { openServerApi, type ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import { type HasArrived, testedBy } from '../../health/test_delivery.ts'
import type { Reader } from '../../store/reader.ts'
import { type Asking, orFault } from './checks.ts'

/** How it went, in words: `ok`, or what to do. */
type Tested = { state: 'ok' | 'warning' | 'fault'; words: string }

const PAUSE_MS = 2_000
const LOOKS = 30
const NO_ADDRESS = '4040007'

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

type Arriving = (environment: Environment, uuid: string) => ReturnType<HasArrived>

function arrivals(reader: Reader | null, bundle_id: string): Arriving {
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

type Following = { asking: Asking; hasArrived: Arriving }

async function follow(
  api: ServerApi,
  environment: Environment,
  token: string,
  { asking, hasArrived }: Following,
): Promise<Tested> {
  let elsewhere: string | null = null
  for (let look = 0; look < LOOKS; look += 1) {
    await asking.wait(PAUSE_MS)
    const status = await orFault(api.testStatus(environment, token))
    if (status instanceof AppleFault) return { state: 'fault', words: status.message }
    const { state, words } = testedBy(status, (uuid) => hasArrived(environment, uuid))
    if (state === 'arrived' || state === 'waiting' || state === 'failed')
      return { state: STATES[state], words }
    if (state === 'sent') elsewhere = words
  }
  return { state: 'fault', words: elsewhere ?? UNSENT }
}

const STATES = { arrived: 'ok', waiting: 'warning', failed: 'fault' } as const

const UNSENT =
  'Apple took the order for a test notification, and has not sent it within a minute: try again later.'
