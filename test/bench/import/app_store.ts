/** The simulated App Store in a separate process, simulated up to now, with a count of its requests. */
import { systemClock } from '../../../src/clock.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { signerOf } from '../../../src/demo/signing/signatures.ts'
import { openSimulation, type Simulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { signNotification } from '../../../src/demo/world/unsigned.ts'
import { answerRequests } from '../child.ts'
import type { AppleAccount } from '../servers/apple_work.ts'

/**
 * `hourly`: how many requests App Store Connect answers in an hour, instead of as many as Apple does. `signed`: all is
 * signed beforehand, so that answering costs little more than text.
 */
type Opening = { subscribers: number; hourly?: number; signed?: true }
export type AppStoreRequest = { open: Opening } | { tally: true }

export type AppStore = {
  account: AppleAccount
  roots: string[]
  apps: { bundle_id: string; apple_id: number }[]
  /** What it took to play the customers' history. */
  seconds: number
}

/** What is counted apart. `from` and `until`: milliseconds since the epoch. */
type Kind = 'connect' | 'reports' | 'notifications' | 'transactions' | 'statuses'
export type RequestCount = {
  host: 'connect' | 'production' | 'sandbox'
  kind: Kind
  requests: number
  from: number
  until: number
}
/** Since the last tally: what was asked, and how many seconds this process was at work. */
export type Tally = { requests: RequestCount[]; busy_seconds: number }

const TWO_YEARS_MS = 2 * 365 * 86_400_000

/** All that customers' histories and the history of notifications hold. */
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

async function openStore({ subscribers, hourly, signed }: Opening) {
  const until = systemClock()
  const began = performance.now()
  const authority = await openAuthority({ now: until })
  const simulation = openSimulation({ seed: 1, from: until - TWO_YEARS_MS, until, subscribers, authority })
  simulation.skip(until)
  if (signed) signAhead(simulation, authority)
  const store = await openAppStore({ simulation, authority, clock: systemClock })
  if (hourly !== undefined) store.faults.rate_limit = { connect: hourly }
  const { hosts, connect_key, purchase_key, vendor_number } = store
  const opened: AppStore = {
    account: { hosts, connect_key, purchase_key, vendor_number },
    roots: [authority.root_pem],
    apps: simulation.apps.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id })),
    seconds: (performance.now() - began) / 1000,
  }
  return { store, opened }
}

const PATHS: readonly [beginning: string, kind: Kind][] = [
  ['/v1/salesReports', 'reports'],
  ['/inApps/v1/notifications', 'notifications'],
  ['/inApps/v2/history', 'transactions'],
  ['/inApps/v1/subscriptions', 'statuses'],
]

let running: Awaited<ReturnType<typeof openStore>>['store'] | undefined
let counted = 0
let cpu = process.cpuUsage()

function tally(): Tally {
  const requests = new Map<string, RequestCount>()
  const fresh = running?.requests.slice(counted) ?? []
  counted += fresh.length
  for (const { host, path, at } of fresh) {
    const kind = PATHS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'connect'
    const sum = requests.get(`${host} ${kind}`) ?? { host, kind, requests: 0, from: at, until: at }
    requests.set(`${host} ${kind}`, { ...sum, requests: sum.requests + 1, until: at })
  }
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  return { requests: [...requests.values()], busy_seconds: (user + system) / 1e6 }
}

async function answer(question: AppStoreRequest): Promise<object> {
  if ('tally' in question) return tally()
  const { store, opened } = await openStore(question.open)
  running = store
  return opened
}

answerRequests<AppStoreRequest>(answer, async () => running?.close())
