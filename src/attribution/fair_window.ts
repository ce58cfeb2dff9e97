/**
 * The rate limit of an organization, shared fairly among its callers. It counts the calls admitted in the last minute
 * and the addresses that called, so that no caller uses up the limit. The counts are in memory; a restart resets them.
 *
 * Memory is bounded for any number of addresses. Only admitted calls are stored, at most `limit` a minute. Only the 20
 * most recent addresses are stored, because the limit is never divided into more shares.
 */
import type { Clock } from '../clock.ts'
import { openStamps, type Stamps } from './stamps.ts'
import { rateLimited } from './window.ts'

const MINUTE_MS = 60_000
/** How long an address counts as calling. The extra second allows for a caller that calls once a minute. */
const SEEN_MS = 61_000
/** How far back the busiest minute of proved callers is searched. */
const BUSIEST_MS = 5 * MINUTE_MS
/** The limit is divided into at most 20 shares, however many addresses call: 240 ÷ 20 = 12 calls. */
const MAX_SHARES = 20
/** After this many seconds no past call counts any more. */
const MAX_WAIT_S = BUSIEST_MS / 1_000 + 1

/** `address` is the address bucket of the call; null for a secret key, whose calls count under no address. */
export type WindowCaller = { address: string | null; isProved: boolean }

type Traffic = {
  proved: Stamps
  unproved: Stamps
  /** Admitted calls by address, the address admitted last at the end. */
  callsByAddress: Map<string, Stamps>
  /** When each address was last admitted or refused, the newest at the end. */
  seenAtByAddress: Map<string, number>
  busiest: ReturnType<typeof openBusiest>
}

/**
 * A sliding window for each organization: at most `limit` admitted calls in any 60 seconds; refused calls do not count.
 * A single caller may use all of it. While others call:
 * - from half full on, an address gets at most `limit` ÷ the number of calling addresses, at least a twentieth;
 * - unproved callers leave room for as many calls as proved callers made in their busiest minute of the last five
 *   minutes, at most half.
 */
export function openFairWindow(limit: () => number, clock: Clock) {
  const organizations = new Map<string, Traffic>()

  /**
   * Admits one call.
   *
   * @throws Refusal 429 `rate_limited`; `retry-after` is the number of seconds until this caller is admitted, if no
   * other caller calls until then.
   */
  function admit(organization_id: string, caller: WindowCaller): void {
    const now = clock()
    const traffic = trafficOf(organization_id)
    dropExpired(traffic, now)
    recordSeen(traffic, caller, now)
    if (!isAdmissible(traffic, caller, now)) throw refusal(traffic, caller, now)
    const { address, isProved } = caller
    const calls = isProved ? traffic.proved : traffic.unproved
    calls.add(now)
    if (address !== null) recordAdmitted(traffic.callsByAddress, address, now)
  }

  /** Whether a call of `caller` is admitted at `at`, now or later, if no other caller calls until then. */
  function isAdmissible(traffic: Traffic, caller: WindowCaller, at: number) {
    const { proved, unproved, callsByAddress, seenAtByAddress, busiest } = traffic
    const [since, most] = [at - MINUTE_MS, limit()]
    const [provedCount, unprovedCount] = [proved.countAfter(since), unproved.countAfter(since)]
    if (provedCount + unprovedCount >= most) return false
    const reserved = Math.min(busiest.before(at), Math.floor(most / 2))
    if (!caller.isProved && unprovedCount + Math.max(provedCount, reserved) >= most) return false
    if (caller.address === null || provedCount + unprovedCount < most / 2) return true
    const share = Math.max(1, Math.floor(most / sharesAt(seenAtByAddress, at)))
    return (callsByAddress.get(caller.address)?.countAfter(since) ?? 0) < share
  }

  /** If no other caller calls, admission never ends once it begins, so a binary search finds its first second. */
  function refusal(traffic: Traffic, caller: WindowCaller, now: number) {
    let [refused_s, admitted_s] = [0, MAX_WAIT_S]
    while (admitted_s - refused_s > 1) {
      const middle_s = (refused_s + admitted_s) >> 1
      if (isAdmissible(traffic, caller, now + middle_s * 1_000)) admitted_s = middle_s
      else refused_s = middle_s
    }
    const why = `an organization has ${limit()} calls a minute, shared among its callers`
    return rateLimited('organization', limit(), admitted_s, why)
  }

  function trafficOf(organization_id: string): Traffic {
    const known = organizations.get(organization_id)
    if (known) return known
    const traffic = {
      proved: openStamps(),
      unproved: openStamps(),
      callsByAddress: new Map(),
      seenAtByAddress: new Map(),
      busiest: openBusiest(() => Math.floor(limit() / 2)),
    }
    organizations.set(organization_id, traffic)
    return traffic
  }

  return { admit }
}

function dropExpired({ proved, unproved, callsByAddress }: Traffic, now: number): void {
  proved.drop(now - MINUTE_MS)
  unproved.drop(now - MINUTE_MS)
  for (const [address, calls] of callsByAddress) {
    if (calls.newest(1) > now - MINUTE_MS) return
    callsByAddress.delete(address)
  }
}

function recordSeen(
  { seenAtByAddress, busiest }: Traffic,
  { address, isProved }: WindowCaller,
  now: number,
): void {
  if (isProved) busiest.note(now)
  if (address === null) return
  seenAtByAddress.delete(address)
  seenAtByAddress.set(address, now)
  for (const oldest of seenAtByAddress.keys()) {
    if (seenAtByAddress.size <= MAX_SHARES) return
    seenAtByAddress.delete(oldest)
  }
}

function recordAdmitted(callsByAddress: Map<string, Stamps>, address: string, now: number): void {
  const calls = callsByAddress.get(address) ?? openStamps()
  calls.drop(now - MINUTE_MS)
  calls.add(now)
  callsByAddress.delete(address)
  callsByAddress.set(address, calls)
}

/** The number of shares of the window at `at`: one for each address that called, at most 20. */
function sharesAt(seenAtByAddress: ReadonlyMap<string, number>, at: number): number {
  let count = 0
  for (const seen_at of seenAtByAddress.values()) if (seen_at > at - SEEN_MS) count += 1
  return Math.max(1, count)
}

/** The busiest minute of calls, admitted or refused, counted up to `most`. */
function openBusiest(most: () => number) {
  const calls = openStamps()
  /** Minutes by their last call, the busiest first. A minute that a later minute equals is never the busiest again. */
  const minutes: { ended_at: number; count: number }[] = []

  function note(now: number): void {
    calls.drop(now - MINUTE_MS)
    calls.add(now)
    calls.keepNewest(most())
    const count = calls.countAfter(now - MINUTE_MS)
    while ((minutes.at(-1)?.count ?? Number.POSITIVE_INFINITY) <= count) minutes.pop()
    while ((minutes[0]?.ended_at ?? now) <= now - BUSIEST_MS) minutes.shift()
    minutes.push({ ended_at: now, count })
  }

  /** The number of calls in the busiest minute that ended in the five minutes before `at`. */
  const before = (at: number): number =>
    minutes.find(({ ended_at }) => ended_at > at - BUSIEST_MS)?.count ?? 0

  return { note, before }
}
