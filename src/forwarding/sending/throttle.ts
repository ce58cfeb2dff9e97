/**
 * Limits the requests that an endpoint gets in a second, if its owner wants that. In memory: a restart forgets at most the
 * requests of one second.
 */
import type { Clock } from '../../clock.ts'
import { openHook } from '../../hooks.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'

const SECOND_MS = 1_000

type Limited = Pick<Endpoint, 'id' | 'max_per_second'>

export type Throttle = ReturnType<typeof openThrottle>

/** Opens the throttle. `onRoom` adds a listener that is called when an endpoint may get requests again. */
export function openThrottle({ monotonic }: { monotonic: Clock }) {
  /** When the requests of the last second began, oldest first, by endpoint. */
  const recent = new Map<string, number[]>()
  const timers = new Set<string>()
  const roomMade = openHook()

  function timesOf(id: string): number[] {
    const now = monotonic()
    return (recent.get(id) ?? []).filter((at) => now - at < SECOND_MS)
  }

  function callWhenRoom(id: string, [oldest]: readonly number[]): void {
    if (oldest === undefined || timers.has(id)) return
    timers.add(id)
    const isOver = (): void => {
      timers.delete(id)
      roomMade.call()
    }
    setTimeout(isOver, oldest + SECOND_MS - monotonic()).unref()
  }

  /** How many requests to an endpoint may begin now, of which `begun` were chosen and are not on their way yet. */
  function room({ id, max_per_second }: Limited, begun: number): number {
    if (max_per_second === null) return Number.POSITIVE_INFINITY
    const times = timesOf(id)
    const free = max_per_second - times.length - begun
    if (free <= 0) callWhenRoom(id, times)
    return Math.max(0, free)
  }

  /** Notes that a request to an endpoint begins. */
  function noteSent({ id, max_per_second }: Limited): void {
    for (const other of recent.keys()) if (timesOf(other).length === 0) recent.delete(other)
    if (max_per_second !== null) recent.set(id, [...timesOf(id), monotonic()])
  }

  return { room, noteSent, onRoom: roomMade.add }
}
