/** Chooses which lineages to recompute next, and builds generations. */
import type { Clock } from '../../clock.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import type { CountedSums } from './counting.ts'
import type { Due } from './due.ts'
import type { Generation, Generations } from './generations.ts'
import { type Mark, type Marks, RANK } from './marks.ts'
import type { Recount } from './recount.ts'
import { openSetBack } from './set_back.ts'
import type { Sweeping } from './sweeping.ts'
import type { Tasks } from './tasks.ts'

/** Lineages read together; a slice may end after any of them. */
const STEP_LINEAGES = 32
const STEP_NUMBERED = 200

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

export function openScheduler({ store, clock, generations, marks, due, tasks, recount, ...rest }: Deps) {
  const setBack = openSetBack({ store, clock })
  const numberLineages = openNumbering({ store, marks })
  /** Lineages and apps whose figures a caller is waiting for. */
  const urgent: Mark[] = []
  const preferred = new Map<string, { generation: Generation; app_ids: readonly string[] }>()

  /** Runs a step of the most urgent work, until `isOver`; false if nothing is left. Runs inside a unit of work. */
  function step(sums: CountedSums, isOver: () => boolean): boolean {
    return (
      setBack.makeDue() ||
      recountUrgent(sums, isOver) ||
      recountMarks(marks.next(RANK.live, STEP_LINEAGES), sums, isOver) ||
      recountMarks(preferredMarks(), sums, isOver) ||
      recountMarks(marks.dueByTime(clock(), STEP_LINEAGES), sums, isOver) ||
      tasks.markSlice() ||
      recountMarks(marks.next(RANK.bulk, STEP_LINEAGES), sums, isOver) ||
      recountMarks(marks.next(RANK.next, STEP_LINEAGES), sums, isOver) ||
      generations
        .all()
        .some((generation) => generation.state === 'making' && build(generation, sums, isOver)) ||
      rest.sweeping.some()
    )
  }

  /** Whether any work waits: due lineages, tasks, or generations to build or to delete. */
  const isWaiting = (): boolean =>
    urgent.length > 0 ||
    setBack.isNoticed() ||
    marks.next(RANK.next, 1).length > 0 ||
    marks.dueByTime(clock(), 1).length > 0 ||
    tasks.isWaiting() ||
    generations.all().some(({ state }) => state === 'making') ||
    generations.unreferenced().length > 0

  const preferredMarks = (): Mark[] => {
    for (const { generation, app_ids } of preferred.values()) {
      const some = due.marksOf(generation, app_ids, STEP_LINEAGES)
      if (some.length > 0) return some
    }
    return []
  }

  function recountMarks(some: readonly Mark[], sums: CountedSums, isOver: () => boolean): boolean {
    for (const mark of some) {
      recount.recountMarked(mark, sums)
      if (isOver()) break
    }
    return some.length > 0
  }

  function recountUrgent(sums: CountedSums, isOver: () => boolean): boolean {
    const isAny = urgent.length > 0
    for (let mark = urgent.shift(); mark; mark = isOver() ? undefined : urgent.shift())
      // Several callers may have prioritized the same lineage.
      if (due.isDue(mark.generation, mark.lineage_id)) recount.recountMarked(mark, sums)
    return isAny
  }

  /** Continues to build a generation. Returns false while the generation waits for reports. */
  function build(generation: Generation, sums: CountedSums, isOver: () => boolean): boolean {
    const after = generation.made_up_to ?? 0
    const some = marks.following(after, STEP_LINEAGES)
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

  /** Shows a generation if it is complete. Returns false otherwise. */
  function publish(generation: Generation): boolean {
    if (marks.hasMarks(generation.id) || rest.lacksReports(generation.id)) return false
    generations.publish(generation)
    return true
  }

  /** Queues some lineages before all others. */
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

/** Returns the function that numbers lineages. */
function openNumbering({ store, marks }: Pick<Deps, 'store' | 'marks'>) {
  // Reads the index of transactions, starting after the previous lineage.
  const lineagesAfter = store.prepare<LineageKey & { limit: number }, LineageKey>(`
    select distinct app_id, environment, original_transaction_id from transactions
    where (app_id, environment, original_transaction_id) > (:app_id, :environment, :original_transaction_id)
    order by app_id, environment, original_transaction_id limit :limit`)
  /** Whether all lineages with facts are numbered, and the last lineage checked. A new fact numbers its lineage. */
  let isNumbered = false
  let cursor = BEFORE_FIRST_LINEAGE

  /** Assigns numbers to lineages with facts, until `isOver`. Returns false once all of them have a number. */
  return (isOver: () => boolean): boolean => {
    if (isNumbered) return false
    let [at, isDone] = [cursor, false]
    do {
      const some = lineagesAfter.all({ ...at, limit: STEP_NUMBERED })
      for (const key of some) marks.numberOf(key)
      at = some.at(-1) ?? at
      isDone = some.length < STEP_NUMBERED
    } while (!isDone && !isOver())
    // After the commit, so that numbers that a failed commit rolled back are assigned again.
    store.afterCommit(() => {
      cursor = at
      isNumbered ||= isDone
    })
    return true
  }
}

const BEFORE_FIRST_LINEAGE: LineageKey = {
  app_id: '',
  environment: 'production',
  original_transaction_id: '',
}
