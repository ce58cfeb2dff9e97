/** Remembers which parts of the program an error has stopped, in memory: each part runs again after a start. */
import type { Clock, Clocks } from './clock.ts'
import type { Log } from './log.ts'

/** A part that stands still after this time is reported to programs that watch the server. */
const STANDING_MS = 300_000

/** A part of the program that goes on by itself, as long as nothing fails. */
export type Part = 'alerts' | 'forwarding' | 'metrics'

/**
 * What an error stopped. `title` says what does not happen, `subject` of what, such as the name of a rule. `since` is in ms
 * since the epoch. `times`: how often it failed since then.
 */
export type Stoppage = {
  id: string
  part: Part
  title: string
  subject: string | null
  reason: string
  since: number
  times: number
}

/** A kind of work that is watched. */
export type Watched = {
  part: Part
  /** Names the work in the id of the finding. */
  name: string
  /** What does not happen, such as `Alerts are not sent`. */
  title: string
  /** The message of the log for an error. */
  message: string
  /** Whether the whole part stands still with it. */
  isWhole?: boolean
}
type Known = Stoppage & { isWhole: boolean; began_at: number }

export type Stoppages = ReturnType<typeof openStoppages>
/** One kind of work, whose errors and successes are noted. */
export type Watch = ReturnType<Stoppages['watch']>

/** Opens the memory. */
export function openStoppages({ clock, monotonic, log }: Clocks & { log: Log }) {
  const known = new Map<string, Known>()
  /** When each part was stopped item by item. */
  const wholes = new Map<Part, number>()

  /** Watches a kind of work. `subject` tells several of it apart. */
  function watch({ part, name, title, message, isWhole = false }: Watched) {
    const idOf = (subject: string | null) => `stopped:${part}:${name}${subject === null ? '' : `:${subject}`}`
    return {
      /** Notes an error that stopped the work, and logs it unless it is the same as before. */
      failed(error: unknown, subject: string | null = null): void {
        const id = idOf(subject)
        const reason = error instanceof Error ? error.message : String(error)
        const before = known.get(id)
        const { since = clock(), began_at = monotonic(), times = 0 } = before ?? {}
        known.set(id, { id, part, title, subject, reason, since, times: times + 1, isWhole, began_at })
        if (before?.reason !== reason) log.error(message, { ...(subject !== null && { subject }), error })
      },
      /** Notes that the work was done without an error. */
      worked: (subject: string | null = null): void => void known.delete(idOf(subject)),
    }
  }

  /** What is stopped now. */
  const list = (): Stoppage[] => [...known.values()].map(({ isWhole, began_at, ...stoppage }) => stoppage)

  /** Notes whether errors that are reported elsewhere, one by one, stop everything of a part. */
  function noteWhole(part: Part, isStopped: boolean): void {
    if (!isStopped) wholes.delete(part)
    else if (!wholes.has(part)) wholes.set(part, monotonic())
  }

  return { watch, noteWhole, list, isStanding: openStanding(known, wholes, monotonic) }
}

/** Returns the function that says whether a whole part has been stopped for five minutes. */
const openStanding =
  (known: ReadonlyMap<string, Known>, wholes: ReadonlyMap<Part, number>, monotonic: Clock) =>
  (part: Part): boolean => {
    const ofPart = [...known.values()].filter((one) => one.isWhole && one.part === part)
    const began = [...ofPart.map(({ began_at }) => began_at), wholes.get(part) ?? monotonic()]
    return monotonic() - Math.min(...began) >= STANDING_MS
  }
