/** Chooses what to recompute next, and builds generations. */
import type { Clock } from '../../clock.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import type { CountedSums } from './counting.ts'
import type { Due } from './due.ts'
import type { Generation, Generations } from './generations.ts'
import { type Mark, type Marks, RANK } from './marks.ts'
import type { Recount } from './recount.ts'
import type { Sweeping } from './sweeping.ts'
import type { Tasks } from './tasks.ts'

/** Lineages read together; a slice may end after any of them. */
const AT_ONCE = 32
const NUMBERED_AT_ONCE = 200

type Deps = {
  store: Store
  clock: Clock
  generations: Generations
  marks: Marks
  due: Due
  tasks: Tasks
  recount: Recount
  sweeping: Sweeping
  /** Whether a generation lacks sums of Apple’s reports. */
  lacksReports: (generation: number) => boolean
}

export type Scheduler = ReturnType<typeof openScheduler>

export function openScheduler({ store, clock, generations, marks, due, tasks, recount, ...known }: Deps) {
  // Uses the index of transactions, from the previous lineage on.
  const lineagesAfter = store.prepare<LineageKey & { limit: number }, LineageKey>(`
    select distinct app_id, environment, original_transaction_id from transactions
    where (app_id, environment, original_transaction_id) > (:app_id, :environment, :original_transaction_id)
    order by app_id, environment, original_transaction_id limit :limit`)
  /** What callers wait for: single lineages, and apps. */
  const urgent: Mark[] = []
  const preferred = new Map<string, { generation: Generation; app_ids: readonly string[] }>()
  /** Whether every lineage with facts has a number, and how far that was checked. Later facts assign theirs. */
  let isNumbered = false
  let cursor = FIRST

  /** Does one step of the first work; false where there is none. `isOver` ends it. Runs inside a unit of work. */
  function step(sums: CountedSums, isOver: () => boolean): boolean {
    return (
      recountUrgent(sums, isOver) ||
      recountMarks(marks.next(RANK.live, AT_ONCE), sums, isOver) ||
      recountMarks(preferredMarks(), sums, isOver) ||
      recountMarks(marks.dueByTime(clock(), AT_ONCE), sums, isOver) ||
      tasks.slice() ||
      recountMarks(marks.next(RANK.bulk, AT_ONCE), sums, isOver) ||
      recountMarks(marks.next(RANK.next, AT_ONCE), sums, isOver) ||
      generations
        .all()
        .some((generation) => generation.state === 'making' && build(generation, sums, isOver)) ||
      known.sweeping.some()
    )
  }

  /** Whether any lineage waits to be recomputed. */
  const isWaiting = (): boolean =>
    urgent.length > 0 ||
    marks.next(RANK.next, 1).length > 0 ||
    marks.dueByTime(clock(), 1).length > 0 ||
    tasks.isWaiting() ||
    generations.all().some(({ state }) => state === 'making') ||
    generations.unreferenced().length > 0

  const preferredMarks = (): Mark[] => {
    for (const { generation, app_ids } of preferred.values()) {
      const some = due.marksOf(generation, app_ids, AT_ONCE)
      if (some.length > 0) return some
    }
    return []
  }

  function recountMarks(some: readonly Mark[], sums: CountedSums, isOver: () => boolean): boolean {
    for (const mark of some) {
      recount.due(mark, sums)
      if (isOver()) break
    }
    return some.length > 0
  }

  function recountUrgent(sums: CountedSums, isOver: () => boolean): boolean {
    const isAny = urgent.length > 0
    for (let mark = urgent.shift(); mark; mark = isOver() ? undefined : urgent.shift())
      // Several callers may have prioritized it.
      if (due.isDue(mark.generation, mark.lineage_id)) recount.due(mark, sums)
    return isAny
  }

  /** Continues to build a generation; false while it waits for reports. */
  function build(generation: Generation, sums: CountedSums, isOver: () => boolean): boolean {
    const after = generation.made_up_to ?? 0
    const some = marks.following(after, AT_ONCE)
    let last = after
    for (const key of some) {
      if (due.organizationOf(key.app_id) === generation.organization_id) recount.count(generation, key, sums)
      last = key.id
      if (isOver()) break
    }
    if (some.length > 0) {
      generations.advanceTo(generation.id, last)
      return true
    }
    return numberLineages(isOver) || publish(generation)
  }

  /** Assigns numbers to lineages with facts, until `isOver`; false once all have one. */
  function numberLineages(isOver: () => boolean): boolean {
    if (isNumbered) return false
    let [at, isDone] = [cursor, false]
    do {
      const some = lineagesAfter.all({ ...at, limit: NUMBERED_AT_ONCE })
      for (const key of some) marks.numberOf(key)
      at = some.at(-1) ?? at
      isDone = some.length < NUMBERED_AT_ONCE
    } while (!isDone && !isOver())
    // After the commit: what a failed one rolled back is checked again.
    store.afterCommit(() => {
      cursor = at
      isNumbered ||= isDone
    })
    return true
  }

  /** Shows a generation if nothing of it is left to do. */
  function publish(generation: Generation): boolean {
    if (marks.isLeft(generation.id) || known.lacksReports(generation.id)) return false
    generations.publish(generation)
    return true
  }

  /** Recomputes some lineages before all others. */
  function prioritize(some: readonly Mark[]): void {
    urgent.push(...some)
  }

  /** Prefers the lineages of some apps until the returned function is called. */
  function prefer(name: string, generation: Generation, app_ids: readonly string[]): () => void {
    preferred.set(name, { generation, app_ids })
    return () => void preferred.delete(name)
  }

  return { step, isWaiting, prioritize, prefer }
}

const FIRST: LineageKey = { app_id: '', environment: 'production', original_transaction_id: '' }
