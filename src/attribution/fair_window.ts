/**
 * The rate limit of an organization, shared fairly among its callers. It counts the calls admitted in the last minute,
 * and the addresses and networks that called, so that no caller uses up the limit. The counts are in memory; a restart
 * resets them, but not who called on earlier days.
 */
import type { Clock } from '../clock.ts'
import type { Client } from '../http/clients/client.ts'
import { openBusiest } from './busiest.ts'
import type { CallerMemory } from './caller_memory.ts'
import { openShares, SEEN_MS } from './shares.ts'
import { openStamps, type Stamps } from './stamps.ts'
import { rateLimited } from './window.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** How far back the busiest minute is searched. */
const BUSIEST_MS = 5 * MINUTE_MS
/** What is reserved at least for proved callers: 240 ÷ 10 = 24 calls. */
const LEAST_RESERVED = 1 / 10
/** After this many seconds no past call counts any more. */
const MAX_WAIT_S = BUSIEST_MS / 1_000 + 1

/** Who calls. `isExempt`: its calls count under no address, as those with a secret key. */
export type WindowCaller = { client: Client; isProved: boolean; isExempt: boolean }

/** Who leaves room for whom: `stranger` for `known`, and both for `proved`. */
const RANKS = ['proved', 'known', 'stranger'] as const
type Rank = (typeof RANKS)[number]
type Ranked = WindowCaller & { rank: Rank }
type Memory = Pick<CallerMemory, 'networks' | 'provedAt'>
type Limit = 'organization' | 'reserved' | 'address' | 'network'

type Traffic = {
  /** The calls admitted in the last minute. */
  admitted: Record<Rank, Stamps>
  busiest: Record<'proved' | 'known', ReturnType<typeof openBusiest>>
  addresses: ReturnType<typeof openShares>
  networks: ReturnType<typeof openShares>
  /** When the newest proved call came, admitted or refused. */
  provedAt: number
  /** The network of the newest exempt caller, and the calls of all that were admitted in the last minute. */
  exempt: { network: string; at: number; admitted: Stamps }
}

/**
 * A sliding window for each organization: at most `limit` admitted calls in any 60 seconds; refused calls do not count.
 * A single caller may use all of it. While others call:
 * - from half full on, what exempt callers leave of `limit` is divided: an address gets at most this ÷ the number of
 *   calling addresses, and a network this ÷ the number of calling networks, at least a twentieth each;
 * - unproved callers leave room for as many calls as proved callers made in their busiest minute of the last five
 *   minutes, at most half; while two networks call, at least for a tenth, if a proved call came within a day;
 * - of unproved callers, those from networks whose first admitted call is less than a day ago leave room in the same way
 *   for those from others, within the same half.
 */
export function openFairWindow(limit: () => number, clock: Clock, memory: Memory) {
  const { networks, provedAt } = memory
  const organizations = new Map<string, Traffic>()

  /**
   * Admits one call.
   *
   * @throws Refusal 429 `rate_limited`; `retry-after` is the number of seconds until this caller is admitted, if no
   * other caller calls until then.
   */
  function admit(organization_id: string, caller: WindowCaller): void {
    const now = clock()
    const { client, isProved, isExempt } = caller
    const rank = isProved ? 'proved' : networks.isKnown(client.network) ? 'known' : 'stranger'
    const traffic = trafficOf(organization_id)
    for (const one of [...Object.values(traffic.admitted), traffic.exempt.admitted]) one.drop(now - MINUTE_MS)
    const ranked = { ...caller, rank } as const
    noteSeen(traffic, ranked, now)
    if (isProved) provedAt.set(organization_id, now)
    const reached = limitReached(traffic, ranked, limit(), now)
    if (reached !== null) throw refusal(traffic, ranked, now, reached)
    traffic.admitted[rank].add(now)
    if (isExempt) return traffic.exempt.admitted.add(now)
    traffic.addresses.noteAdmitted(client.address, now)
    traffic.networks.noteAdmitted(client.network, now)
    networks.note(client.network)
  }

  /** If no other caller calls, admission never ends once it begins, so a binary search finds its first second. */
  function refusal(traffic: Traffic, caller: Ranked, now: number, reached: Limit) {
    let [refused_s, admitted_s] = [0, MAX_WAIT_S]
    while (admitted_s - refused_s > 1) {
      const middle_s = (refused_s + admitted_s) >> 1
      if (limitReached(traffic, caller, limit(), now + middle_s * 1_000) === null) admitted_s = middle_s
      else refused_s = middle_s
    }
    const why = `an organization has ${limit()} calls a minute, shared among its callers`
    return rateLimited('organization', limit(), admitted_s, { limit: reached, why })
  }

  function trafficOf(organization_id: string): Traffic {
    const traffic =
      organizations.get(organization_id) ??
      openTraffic(() => Math.floor(limit() / 2), provedAt.get(organization_id) ?? Number.NEGATIVE_INFINITY)
    organizations.set(organization_id, traffic)
    return traffic
  }

  return { admit }
}

const openTraffic = (half: () => number, provedAt: number): Traffic => ({
  admitted: { proved: openStamps(), known: openStamps(), stranger: openStamps() },
  busiest: { proved: openBusiest(BUSIEST_MS, half), known: openBusiest(BUSIEST_MS, half) },
  addresses: openShares(),
  networks: openShares(),
  provedAt,
  exempt: { network: '', at: Number.NEGATIVE_INFINITY, admitted: openStamps() },
})

function noteSeen(traffic: Traffic, { client, rank, isExempt }: Ranked, now: number): void {
  if (rank !== 'stranger') traffic.busiest[rank].note(now)
  if (rank === 'proved') traffic.provedAt = now
  if (isExempt) {
    Object.assign(traffic.exempt, { network: client.network, at: now })
  } else {
    traffic.addresses.noteSeen(client.address, now)
    traffic.networks.noteSeen(client.network, now)
  }
}

/**
 * Which limit refuses a call of `caller` at `at`, now or later, if no other caller calls until then; null if it is
 * admitted. reserved: the room that is left for those who go first.
 */
function limitReached(traffic: Traffic, caller: Ranked, most: number, at: number): Limit | null {
  const countOf = (rank: Rank): number => traffic.admitted[rank].countAfter(at - MINUTE_MS)
  const [proved, known, stranger] = [countOf('proved'), countOf('known'), countOf('stranger')]
  const count = proved + known + stranger
  if (count >= most) return 'organization'
  const reserved = reservedAt(traffic, most, at)
  if (caller.rank === 'known' && known + stranger + Math.max(proved, reserved.proved) >= most)
    return 'reserved'
  if (
    caller.rank === 'stranger' &&
    stranger + Math.max(known, reserved.known) + Math.max(proved, reserved.proved) >= most
  )
    return 'reserved'
  if (caller.isExempt || count < most / 2) return null
  const { address, network } = caller.client
  const divided = most - traffic.exempt.admitted.countAfter(at - MINUTE_MS)
  if (!traffic.addresses.hasRoom(address, divided, at)) return 'address'
  return traffic.networks.hasRoom(network, divided, at) ? null : 'network'
}

/** The number of calls that others leave to proved callers and to known ones. */
function reservedAt({ busiest, provedAt, networks, exempt }: Traffic, most: number, at: number) {
  const isSeen = exempt.at > at - SEEN_MS && !networks.isCalling(exempt.network, at)
  const calling = networks.countCalling(at) + (isSeen ? 1 : 0)
  const least = calling >= 2 && provedAt > at - DAY_MS ? Math.floor(most * LEAST_RESERVED) : 0
  const half = Math.floor(most / 2)
  const proved = Math.min(Math.max(busiest.proved.before(at), least), half)
  return { proved, known: Math.min(busiest.known.before(at), half - proved) }
}
