/**
 * Counts the calls of the last 24 hours by hour: what was admitted, what was refused and why, and who was refused most. The
 * counts are in memory and bounded; a restart forgets them.
 */
import type { H3Event } from 'h3'
import type { Clock } from '../../clock.ts'
import { type Client, clientOf } from '../clients/client.ts'
import { openMostFrequent } from '../clients/most_frequent.ts'

const HOUR_MS = 3_600_000
const HOURS = 24
/** The callers of an hour of which refusals are counted, and those that an answer lists. */
const MAX_CALLERS = 100
const MAX_LISTED = 10

/**
 * sdk: `identify` and `attribute`; enrolment: of devices; apple: notifications; sign_in: passwords, passkeys and share
 * links; api: `/api/v1`; connection: what ended before it was a request; other: pages, probes and everything else.
 */
export const AREAS = ['sdk', 'enrolment', 'apple', 'sign_in', 'api', 'other', 'connection'] as const
type Area = (typeof AREAS)[number]

/** Why calls were refused: the code of the answer, and which of several limits they reached. */
type Reason = { code: string; limit: string | null }
type CountedReason = Reason & { calls: number }
type Counted = { admitted: number; refused: number }
type AreaCounts = { admitted: number; reasons: Map<string, CountedReason> }

type Hour = {
  began_at: number
  areas: Map<Area, AreaCounts>
  proof: { proved: Counted; unproved: Counted }
  addresses: ReturnType<typeof openMostFrequent>
  networks: ReturnType<typeof openMostFrequent>
}

const SIGN_IN = new Set([
  '/api/v1/setup',
  '/api/v1/login',
  '/api/v1/reauth',
  '/api/v1/password',
  '/api/v1/passkeys/challenge',
  '/api/v1/share/open',
])
const SDK = new Set(['/api/sdk/v1/identify', '/api/sdk/v1/attribute'])

function areaOf(route: string): Area {
  if (SDK.has(route)) return 'sdk'
  if (route.startsWith('/api/sdk/')) return 'enrolment'
  if (route.startsWith('/apple/')) return 'apple'
  if (SIGN_IN.has(route)) return 'sign_in'
  return route.startsWith('/api/') ? 'api' : 'other'
}

export type CallHistory = ReturnType<typeof openCallHistory>

/** Opens the history. */
export function openCallHistory(clock: Clock) {
  const opened_at = clock()
  let hours: Hour[] = []
  const proved = new WeakSet<H3Event>()

  /** The current hour. Those that are too old, or in the future since the clock was turned back, are forgotten. */
  function currentHour(): Hour {
    const began_at = Math.floor(clock() / HOUR_MS) * HOUR_MS
    const known = hours.at(-1)
    if (known?.began_at === began_at) return known
    const hour = openHour(began_at)
    hours = [...hours.filter((one) => isRecent(one, began_at) && one.began_at < began_at), hour]
    return hour
  }

  /** Notes that the credential of an SDK call proves its caller. */
  const noteProof = (event: H3Event): void => void proved.add(event)

  /** Counts a request that is answered. `route` is the pattern of its path; `reason` is null for an answer below 400. */
  function note(event: H3Event, route: string, reason: Reason | null): void {
    const area = areaOf(route)
    const hour = currentHour()
    const counts = countsOf(hour, area)
    if (area === 'sdk')
      hour.proof[proved.has(event) ? 'proved' : 'unproved'][reason ? 'refused' : 'admitted'] += 1
    if (reason === null) counts.admitted += 1
    else refuse(hour, area, reason, clientOf(event))
  }

  /** Counts a connection that ended before it was a request. */
  const noteConnection = (code: string, client: Client): void =>
    refuse(currentHour(), 'connection', { code, limit: null }, client)

  /** What was counted in the current hour and the 23 hours before. */
  function read() {
    const now = clock()
    const recent = hours.filter((hour) => isRecent(hour, now))
    return {
      since_at: Math.max(opened_at, Math.floor(now / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS),
      until_at: now,
      areas: areasOf(recent),
      proof: proofOf(recent),
      addresses: mostRefused(recent, 'addresses'),
      networks: mostRefused(recent, 'networks'),
      hours: recent.map((hour) => ({ began_at: hour.began_at, areas: areasOf([hour]) })),
    }
  }

  return { noteProof, note, noteConnection, read }
}

const isRecent = ({ began_at }: Hour, now: number): boolean =>
  began_at <= now && began_at > now - HOURS * HOUR_MS

const openHour = (began_at: number): Hour => ({
  began_at,
  areas: new Map(),
  proof: { proved: { admitted: 0, refused: 0 }, unproved: { admitted: 0, refused: 0 } },
  addresses: openMostFrequent(MAX_CALLERS),
  networks: openMostFrequent(MAX_CALLERS),
})

function countsOf(hour: Hour, area: Area): AreaCounts {
  const counts = hour.areas.get(area) ?? { admitted: 0, reasons: new Map() }
  hour.areas.set(area, counts)
  return counts
}

function refuse(hour: Hour, area: Area, reason: Reason, client: Client): void {
  addReason(countsOf(hour, area).reasons, { ...reason, calls: 1 })
  hour.addresses.note(client.address)
  hour.networks.note(client.network)
}

function addReason(reasons: Map<string, CountedReason>, { code, limit, calls }: CountedReason): void {
  const key = `${code} ${limit}`
  const known = reasons.get(key)
  if (known === undefined) reasons.set(key, { code, limit, calls })
  else known.calls += calls
}

/** The sums of hours, by area, with the most frequent reasons first. Areas without calls are left out. */
function areasOf(hours: readonly Hour[]) {
  return AREAS.flatMap((area) => {
    const counted = hours.flatMap((hour) => hour.areas.get(area) ?? [])
    if (counted.length === 0) return []
    const reasons = new Map<string, CountedReason>()
    for (const one of counted) for (const reason of one.reasons.values()) addReason(reasons, reason)
    const sorted = [...reasons.values()].sort((a, b) => b.calls - a.calls)
    const admitted = sum(counted.map((one) => one.admitted))
    return [{ area, admitted, refused: sum(sorted.map(({ calls }) => calls)), reasons: sorted }]
  })
}

const proofOf = (hours: readonly Hour[]): Hour['proof'] => ({
  proved: sumOf(hours.map(({ proof }) => proof.proved)),
  unproved: sumOf(hours.map(({ proof }) => proof.unproved)),
})

const sumOf = (counted: readonly Counted[]): Counted => ({
  admitted: sum(counted.map(({ admitted }) => admitted)),
  refused: sum(counted.map(({ refused }) => refused)),
})

/** The callers with most refusals, the most refused first. */
function mostRefused(hours: readonly Hour[], kind: 'addresses' | 'networks') {
  const callsByName = new Map<string, number>()
  for (const hour of hours)
    for (const [name, calls] of hour[kind].counts())
      callsByName.set(name, (callsByName.get(name) ?? 0) + calls)
  return [...callsByName]
    .map(([address, calls]) => ({ address, calls }))
    .sort((a, b) => b.calls - a.calls || a.address.localeCompare(b.address))
    .slice(0, MAX_LISTED)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
