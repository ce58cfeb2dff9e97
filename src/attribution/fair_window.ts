/**
 * The rate window of an organization. It counts the calls admitted in the last minute and the other callers, so that no
 * caller uses up the shared limit. It is in memory; a restart begins empty.
 *
 * Memory is bounded for any number of addresses. Only admitted calls are stored, at most `limit` a minute. Only the 20
 * most recent addresses are stored, because further addresses do not change a share.
 */
import type { Clock } from '../clock.ts'
import { openStamps, type Stamps } from './stamps.ts'
import { rateLimited } from './window.ts'

const MINUTE_MS = 60_000
/** How long an address counts as calling. The extra second allows for a caller that calls once a minute. */
const SEEN_MS = 61_000
/** How far back the busiest minute of proved callers is searched. */
const BUSIEST_MS = 5 * MINUTE_MS
/** Shares shrink no further, however many addresses call: 240 ÷ 20 = 12. */
const MAX_SHARES = 20
/** After this many seconds no past call counts any more. */
const MAX_WAIT_S = BUSIEST_MS / 1_000 + 1

/** `address`: the bucket that the call counts under. Null for a secret key, whose calls count under no bucket. */
export type WindowCaller = { address: string | null; isProved: boolean }

type Traffic = {
  proved: Stamps
  unproved: Stamps
  /** Admitted calls by address, the address admitted last at the end. */
  held: Map<string, Stamps>
  /** When each address was last admitted or refused, the newest at the end. */
  seen: Map<string, number>
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
    if (!isOpen(traffic, caller, now)) throw refusal(traffic, caller, now)
    const { address, isProved } = caller
    const calls = isProved ? traffic.proved : traffic.unproved
    calls.add(now)
    if (address !== null) recordHeld(traffic.held, address, now)
  }

  /** Whether a call of `caller` is admitted at `at`, now or later, if no other caller calls until then. */
  function isOpen({ proved, unproved, held, seen, busiest }: Traffic, caller: WindowCaller, at: number) {
    const since = at - MINUTE_MS
    const most = limit()
    const [withProof, without] = [proved.countAfter(since), unproved.countAfter(since)]
    if (withProof + without >= most) return false
    const reserved = Math.min(busiest.before(at), Math.floor(most / 2))
    if (!caller.isProved && without + Math.max(withProof, reserved) >= most) return false
    if (caller.address === null || withProof + without < most / 2) return true
    const share = Math.max(1, Math.floor(most / sharesAt(seen, at)))
    return (held.get(caller.address)?.countAfter(since) ?? 0) < share
  }

  /** The rule only opens with time, so a binary search finds the first second at which it is open. */
  function refusal(traffic: Traffic, caller: WindowCaller, now: number) {
    let [shut, open] = [0, MAX_WAIT_S]
    while (open - shut > 1) {
      const middle = (shut + open) >> 1
      if (isOpen(traffic, caller, now + middle * 1_000)) open = middle
      else shut = middle
    }
    const why = `an organization has ${limit()} calls a minute, shared among its callers`
    return rateLimited('organization', limit(), open, why)
  }

  function trafficOf(organization_id: string): Traffic {
    const known = organizations.get(organization_id)
    if (known) return known
    const traffic = {
      proved: openStamps(),
      unproved: openStamps(),
      held: new Map(),
      seen: new Map(),
      busiest: openBusiest(() => Math.floor(limit() / 2)),
    }
    organizations.set(organization_id, traffic)
    return traffic
  }

  return { admit }
}

function dropExpired({ proved, unproved, held }: Traffic, now: number): void {
  proved.drop(now - MINUTE_MS)
  unproved.drop(now - MINUTE_MS)
  for (const [address, calls] of held) {
    if (calls.newest(1) > now - MINUTE_MS) return
    held.delete(address)
  }
}

function recordSeen({ seen, busiest }: Traffic, { address, isProved }: WindowCaller, now: number): void {
  if (isProved) busiest.note(now)
  if (address === null) return
  seen.delete(address)
  seen.set(address, now)
  for (const oldest of seen.keys()) {
    if (seen.size <= MAX_SHARES) return
    seen.delete(oldest)
  }
}

function recordHeld(held: Map<string, Stamps>, address: string, now: number): void {
  const calls = held.get(address) ?? openStamps()
  calls.drop(now - MINUTE_MS)
  calls.add(now)
  held.delete(address)
  held.set(address, calls)
}

/** The number of shares of the window at `at`: one for each address that called, at most 20. */
function sharesAt(seen: ReadonlyMap<string, number>, at: number): number {
  let count = 0
  for (const seen_at of seen.values()) if (seen_at > at - SEEN_MS) count += 1
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
