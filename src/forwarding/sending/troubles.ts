/**
 * Errors of this server while it forwards. An endpoint with an error pauses. The result of a request that cannot be
 * stored is kept and stored later, so that its receiver is not asked again.
 */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'

/** The pause of an endpoint after an error. Kept results are stored after it. */
const PAUSE_MS = 30_000
/** The pause of an endpoint after the results of two deliveries in a row could not be stored as they are. */
const STOP_MS = 3_600_000

/**
 * A result of a request. `record` stores it. `mark` stores only that there was one, with the reason why `record` failed.
 * Both run inside a unit of work.
 */
type KeptResult = {
  delivery_id: number
  endpoint_id: string
  record: () => void
  mark: (reason: string) => void
}

/** Why an endpoint is not served. `errors`: how many there were in a row. `since`: the first of them, in milliseconds. */
export type Trouble = { since: number; errors: number; reason: string }

type Paused = Trouble & { until: number }

export type Troubles = ReturnType<typeof openTroubles>

type Deps = { store: Store; clock: Clock; monotonic: Clock; log: Log }

/** Opens the troubles. They are in memory: after a restart everything is tried again. */
export function openTroubles({ store, clock, monotonic, log }: Deps) {
  const pauses = openPauses({ clock, monotonic, log })
  const kept = new Set<KeptResult>()
  /** The delivery of each endpoint whose result was marked last, if none was stored since. */
  const marked = new Map<string, number>()

  const hasKept = (endpoint_id: string): boolean => [...kept].some((one) => one.endpoint_id === endpoint_id)

  /** Whether nothing may be sent to an endpoint now. */
  const isPaused = (endpoint_id: string): boolean => pauses.isRunning(endpoint_id) || hasKept(endpoint_id)

  /** Pauses an endpoint after an error. */
  const note = (endpoint_id: string, error: unknown): void => pauses.begin(endpoint_id, error, PAUSE_MS)

  /** Ends the trouble of an endpoint whose work succeeded after its pause. After a marked result only a stored one ends it. */
  function clear(endpoint_id: string): void {
    if (!isPaused(endpoint_id) && !marked.has(endpoint_id)) pauses.end(endpoint_id)
  }

  /** Stores a result, marks it if it alone is refused, or keeps it while nothing can be stored. */
  async function storeOrKeep(result: KeptResult): Promise<void> {
    const { endpoint_id } = result
    try {
      await store.commit(result.record).then(
        () => void marked.delete(endpoint_id),
        (error: unknown) => markOf(result, error),
      )
      kept.delete(result)
    } catch (error) {
      kept.add(result)
      note(endpoint_id, error)
    }
  }

  /** A result that a writable database refuses must not stop the others. @throws `error` if nothing can be stored */
  async function markOf({ delivery_id, endpoint_id, mark }: KeptResult, error: unknown): Promise<void> {
    if (error instanceof Refusal) throw error
    await store.commit(() => mark(reasonOf(error)))
    const details = { endpoint: endpoint_id, delivery: delivery_id, error }
    log.error('the result of a delivery could not be stored as it is', details)
    const isAnother = (marked.get(endpoint_id) ?? delivery_id) !== delivery_id
    marked.set(endpoint_id, delivery_id)
    if (isAnother) pauses.begin(endpoint_id, error, STOP_MS)
  }

  /** Stores kept results whose endpoint has paused long enough, or with `isLast` all. */
  async function retry(isLast = false): Promise<void> {
    const due = [...kept].filter(({ endpoint_id }) => isLast || !pauses.isRunning(endpoint_id))
    await Promise.all(due.map(storeOrKeep))
    for (const { endpoint_id } of due) clear(endpoint_id)
  }

  return { note, clear, isPaused, storeOrKeep, retry, of: pauses.of }
}

/** The pauses of endpoints. */
function openPauses({ clock, monotonic, log }: Omit<Deps, 'store'>) {
  const paused = new Map<string, Paused>()

  /** Logs an error unless it is the same as before. */
  function begin(endpoint_id: string, error: unknown, ms: number): void {
    const before = paused.get(endpoint_id)
    const { since, errors } = before ?? { since: clock(), errors: 0 }
    const [until, reason] = [monotonic() + ms, reasonOf(error)]
    paused.set(endpoint_id, { since, errors: errors + 1, reason, until })
    if (before?.reason === reason) return
    const words = `forwarding to an endpoint pauses for ${ms / 1_000} seconds after an error`
    log.error(words, { endpoint: endpoint_id, error })
  }

  const end = (endpoint_id: string): void => void paused.delete(endpoint_id)

  const isRunning = (endpoint_id: string): boolean => monotonic() < (paused.get(endpoint_id)?.until ?? 0)

  /** Why an endpoint is not served: after a second error, or for long; null otherwise. */
  function of(endpoint_id: string): Trouble | null {
    const trouble = paused.get(endpoint_id)
    const isLong = trouble !== undefined && trouble.until - monotonic() > PAUSE_MS
    return trouble !== undefined && (isLong || trouble.errors > 1) ? trouble : null
  }

  return { begin, end, isRunning, of }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
