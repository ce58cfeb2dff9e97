/** The simulated App Store in a separate process. Its history ends now, and it counts the requests. */
import { preciseTime, systemClock } from '../../../src/clock.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { signerOf } from '../../../src/demo/signing/signatures.ts'
import { openSimulation, type Simulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { signNotification } from '../../../src/demo/world/unsigned.ts'
import { serveRequests } from '../child.ts'
import type { AppleAccount } from '../servers/apple_work.ts'

/**
 * `hourly_limit`: the requests per hour to App Store Connect, instead of Apple's limit. `sign_ahead`: signs everything
 * before the first request, so that signing does not slow responses down.
 */
type StoreOptions = { subscribers: number; hourly_limit?: number; sign_ahead?: true }
export type AppStoreRequest = { open: StoreOptions } | { tally: true }

export type AppStore = {
  account: AppleAccount
  roots: string[]
  apps: { bundle_id: string; apple_id: number }[]
  /** The duration of the simulation. */
  seconds: number
}

/** `from` and `until`: the times of the first and the last request, in milliseconds since the epoch. */
type Kind = 'connect' | 'reports' | 'notifications' | 'transactions' | 'statuses'
export type RequestCount = {
  host: 'connect' | 'production' | 'sandbox'
  kind: Kind
  requests: number
  from: number
  until: number
}
/** The requests since the last tally, and the processor time of this process in seconds. */
export type Tally = { requests: RequestCount[]; busy_seconds: number }

const TWO_YEARS_MS = 2 * 365 * 86_400_000

/** Signs every notification and the newest transaction and renewal of every subscription. */
function signAhead({ world }: Simulation, authority: { sign: (payload: object) => string }): void {
  const sign = signerOf(authority)
  for (const { payload } of world.sent.all()) signNotification(payload, sign)
  for (const person of world.people()) {
    for (const { sub, versions } of world.of(person)) {
      const newest = versions.at(-1)
      if (newest) sign(newest.body)
      if (sub?.last_notified) sign(sub.last_notified.renewal)
    }
  }
}

async function openStore({ subscribers, hourly_limit, sign_ahead }: StoreOptions) {
  const until = systemClock()
  const began = preciseTime()
  const authority = await openAuthority({ now: until })
  const simulation = openSimulation({ seed: 1, from: until - TWO_YEARS_MS, until, subscribers, authority })
  simulation.skip(until)
  if (sign_ahead) signAhead(simulation, authority)
  const store = await openAppStore({ simulation, authority, clock: systemClock })
  if (hourly_limit !== undefined) store.faults.rate_limit = { connect: hourly_limit }
  const { hosts, connect_key, purchase_key, vendor_number } = store
  const opened: AppStore = {
    account: { hosts, connect_key, purchase_key, vendor_number },
    roots: [authority.root_pem],
    apps: simulation.apps.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id })),
    seconds: (preciseTime() - began) / 1000,
  }
  return { store, opened }
}

const PATH_KINDS: readonly [beginning: string, kind: Kind][] = [
  ['/v1/salesReports', 'reports'],
  ['/inApps/v1/notifications', 'notifications'],
  ['/inApps/v2/history', 'transactions'],
  ['/inApps/v1/subscriptions', 'statuses'],
]

let running: Awaited<ReturnType<typeof openStore>>['store'] | undefined
let tallied = 0
let cpu = process.cpuUsage()

function tally(): Tally {
  const requests = new Map<string, RequestCount>()
  const newRequests = running?.requests.slice(tallied) ?? []
  tallied += newRequests.length
  for (const { host, path, at } of newRequests) {
    const kind = PATH_KINDS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'connect'
    const sum = requests.get(`${host} ${kind}`) ?? { host, kind, requests: 0, from: at, until: at }
    requests.set(`${host} ${kind}`, { ...sum, requests: sum.requests + 1, until: at })
  }
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  return { requests: [...requests.values()], busy_seconds: (user + system) / 1e6 }
}

async function handle(message: AppStoreRequest): Promise<object> {
  if ('tally' in message) return tally()
  const { store, opened } = await openStore(message.open)
  running = store
  return opened
}

serveRequests<AppStoreRequest>(handle, async () => running?.close())
