/**
 * Remembers the networks whose calls were admitted on earlier days. Their clients go before strangers when there is not
 * enough for all. The memory is bounded, and a restart forgets everything.
 */
import type { Clock } from '../../clock.ts'
import { setNewest } from './newest.ts'

const DAY_MS = 86_400_000
/** How many days without a call a network stays known. */
const KNOWN_DAYS = 30
/** The most networks that are known, and the most others of which the first day is remembered. */
const MAX_NETWORKS = 20_000

/** Opens the memory. `clock` never jumps. */
export function openKnownNetworks(clock: Clock) {
  /** The last day of each known network. */
  const lastDays = new Map<string, number>()
  /** The first day of each other network, so that a flood of new ones forgets none that is known. */
  const firstDays = new Map<string, number>()
  const today = (): number => Math.floor(clock() / DAY_MS)

  const isRecent = (day: number | undefined): boolean => day !== undefined && day > today() - KNOWN_DAYS

  function isKnown(network: string): boolean {
    const first = firstDays.get(network)
    return isRecent(lastDays.get(network)) || (first !== today() && isRecent(first))
  }

  /** Notes an admitted call. */
  function note(network: string): void {
    if (isKnown(network)) {
      firstDays.delete(network)
      setNewest(lastDays, network, today(), MAX_NETWORKS)
    } else {
      setNewest(firstDays, network, today(), MAX_NETWORKS)
    }
  }

  return { isKnown, note }
}
