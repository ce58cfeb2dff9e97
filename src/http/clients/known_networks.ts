/**
 * Remembers the networks whose calls were admitted a day ago or earlier. Their clients go before strangers when there
 * is not enough for all. The memory is bounded.
 */
import type { Clock } from '../../clock.ts'
import { setNewest } from './newest.ts'

const DAY_MS = 86_400_000
/** How long a network stays known without a call. */
const KNOWN_MS = 30 * DAY_MS
/** The most networks that are known, and the most others of which the first call is remembered. */
const MAX_NETWORKS = 20_000

/** How many ms ago each known network last called, and each other one first called. */
export type NetworkAges = Record<'known' | 'others', [network: string, age: number][]>

/** Opens the memory. `clock` never jumps. */
export function openKnownNetworks(clock: Clock) {
  /** When each known network last called. */
  const lastCalls = new Map<string, number>()
  /** When each other network first called, so that a flood of new ones forgets none that is known. */
  const firstCalls = new Map<string, number>()

  /** How long ago a call was; infinite without one. */
  const ageIn = (calls: ReadonlyMap<string, number>, network: string): number =>
    clock() - (calls.get(network) ?? Number.NEGATIVE_INFINITY)

  function isKnown(network: string): boolean {
    const age = ageIn(firstCalls, network)
    return ageIn(lastCalls, network) < KNOWN_MS || (age >= DAY_MS && age < KNOWN_MS)
  }

  /** Notes an admitted call. */
  function note(network: string): void {
    if (isKnown(network)) {
      firstCalls.delete(network)
      setNewest(lastCalls, network, clock(), MAX_NETWORKS)
    } else {
      const age = ageIn(firstCalls, network)
      setNewest(firstCalls, network, age < DAY_MS ? clock() - age : clock(), MAX_NETWORKS)
    }
  }

  /** Forgets expired networks, and returns at most `most` of each kind: those that called last, ordered for `restore`. */
  function read(most: number): NetworkAges {
    const agesOf = (calls: Map<string, number>): [string, number][] => {
      for (const network of calls.keys()) if (ageIn(calls, network) >= KNOWN_MS) calls.delete(network)
      return [...calls.keys()].slice(-most).map((network) => [network, ageIn(calls, network)])
    }
    return { known: agesOf(lastCalls), others: agesOf(firstCalls) }
  }

  /** Adds what was read `since` ms ago, unless it has expired. */
  function restore({ known, others }: NetworkAges, since: number): void {
    const add = (calls: Map<string, number>, ages: NetworkAges['known']): void => {
      for (const [network, age] of ages) if (age + since < KNOWN_MS) calls.set(network, clock() - age - since)
    }
    add(lastCalls, known)
    add(firstCalls, others)
  }

  return { isKnown, note, read, restore }
}
