/**
 * What we remember: what each customer added to the sums of cohorts. It follows the customers a little later and many at
 * once, because their sums are the same few.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { CustomerValues } from '../customers/values.ts'
import type { Metrics } from '../metrics.ts'
import type { Numbered } from '../upkeep.ts'
import { openCells } from './cells.ts'
import { addMoney, addRecoveries, addRetained, type CohortCells, gathering } from './changes.ts'
import { type Failure, openFailures } from './failures.ts'
import { type DayMoney, type Retained, spreadOf } from './spread.ts'

/** Of all lineages of a customer together. */
export type Spread = { money: DayMoney[]; retained: Retained[]; failures: Failure[] }
type Gathered = Map<string, { key: Numbered; cells: CohortCells }>
type Deps = {
  store: Store
  clock: Clock
  metrics: Pick<Metrics, 'settingsOf' | 'progress'>
  values: CustomerValues
}

/** Customers counted in one unit of work. */
const AT_ONCE = 20
const CLEARED_AT_ONCE = 2_000
/** So many may wait before they are counted without anybody asking. */
const WAITING_MOST = 400
export const NOTHING: Spread = { money: [], retained: [], failures: [] }

export type Spreads = ReturnType<typeof openSpreads>

export function openSpreads({ store, clock, metrics, values }: Deps) {
  const cells = openCells(store)
  const failures = openFailures(store)
  const wait = store.prepare<[number]>('insert or ignore into cohort_tasks (lineage_id) values (?)')
  const waiting = store.prepare<[number], { lineage_id: number }>(
    'select lineage_id from cohort_tasks limit ?',
  )
  const done = store.prepare<[number]>('delete from cohort_tasks where lineage_id = ?')
  const find = store.prepare<[number], { spread: string }>(
    'select spread from cohort_customers where lineage_id = ?',
  )
  const put = store.prepare<[number, string]>(`
    insert into cohort_customers (lineage_id, spread) values (?, ?)
    on conflict (lineage_id) do update set spread = excluded.spread`)
  const remove = store.prepare<[number]>('delete from cohort_customers where lineage_id = ?')
  const counted = store.prepare<[number], { lineage_id: number; spread: string }>(
    'select * from cohort_customers limit ?',
  )
  const countedAfter = store.prepare<[number, number], { lineage_id: number; spread: string }>(
    'select * from cohort_customers where lineage_id > ? order by lineage_id limit ?',
  )
  let tasks = 0
  let working: Promise<void> | null = null
  let closed = false
  let isHeld = false

  values.onCustomer((customer) => {
    wait.run(customer)
    tasks += 1
    // While everything is made anew, everybody waits, and is counted once, after that.
    if (tasks >= WAITING_MOST && metrics.progress() === null)
      store.afterCommit(() => void work().catch(() => {}))
  })

  /** Counts what waits, a part of it; true while there is more. Inside a unit of work. */
  function countSome(): boolean {
    const some = waiting.all(AT_ONCE)
    const gathered: Gathered = new Map()
    for (const { lineage_id } of some) {
      const key = values.kept.keyOf.get(lineage_id)
      if (key) count(key, cellsFor(gathered, key))
      done.run(lineage_id)
    }
    for (const { key, cells: changed } of gathered.values()) cells.add(key, changed.list())
    return some.length === AT_ONCE
  }

  function cellsFor(gathered: Gathered, key: Numbered): CohortCells {
    const name = `${key.app_id} ${key.environment}`
    const known = gathered.get(name) ?? { key, cells: gathering() }
    gathered.set(name, known)
    return known.cells
  }

  /** Moves the sums from what a customer added to what it adds. */
  function count(key: Numbered, changed: CohortCells): void {
    const before = find.get(key.id)?.spread
    const spread = spreadNow(key)
    const after = spread && JSON.stringify(spread)
    if ((before ?? null) === after) return
    change(changed, before === undefined ? NOTHING : JSON.parse(before), spread ?? NOTHING)
    if (after === null) remove.run(key.id)
    else put.run(key.id, after)
  }

  function change(changed: CohortCells, was: Spread, is: Spread): void {
    for (const [{ retained, failures: failed }, sign] of [[was, -1] as const, [is, 1] as const]) {
      for (const one of retained) addRetained(changed, one, sign)
      addRecoveries(changed, failed, sign)
    }
    addMoney(changed, was.money, is.money)
  }

  /** What the customer that a lineage leads adds; null where it leads none, or adds nothing. */
  function spreadNow(key: Numbered): Spread | null {
    const { members } = values.membersOf(key)
    const calendar = metrics.settingsOf(key.app_id)?.calendar
    if (members[0]?.id !== key.id || calendar === undefined) return null
    const spread: Spread = { money: [], retained: [], failures: [] }
    for (const member of members) {
      const { money, retained } = spreadOf(values.kept.rowsOf.all(member.id), calendar, clock())
      spread.money.push(...money)
      if (retained) spread.retained.push(retained)
      spread.failures.push(...failures.of(member, calendar))
    }
    const { money, retained, failures: failed } = spread
    return money.length + retained.length + failed.length === 0 ? null : spread
  }

  /** Counts what waits. To be called before anything is read; cheap where nothing does. */
  function work(): Promise<void> {
    working ??= workAll().finally(() => {
      working = null
    })
    return working
  }

  async function workAll(): Promise<void> {
    tasks = 0
    if (waiting.get(1) === undefined) return
    while (!closed && !isHeld && (await store.commit(countSome))) await setImmediate()
  }

  /** Takes all sums away, and counts every customer anew when asked next. Nothing is counted meanwhile. */
  async function clear(): Promise<void> {
    await work()
    isHeld = true
    try {
      while ((await store.commit(takeSome)) > 0) await setImmediate()
      // What is left was wrong.
      while ((await store.commit(() => cells.clear(CLEARED_AT_ONCE))) > 0) await setImmediate()
    } finally {
      isHeld = false
    }
  }

  function takeSome(): number {
    const some = counted.all(AT_ONCE)
    const gathered: Gathered = new Map()
    for (const { lineage_id, spread } of some) {
      const key = values.kept.keyOf.get(lineage_id)
      if (key) change(cellsFor(gathered, key), JSON.parse(spread), NOTHING)
      remove.run(lineage_id)
      wait.run(lineage_id)
    }
    for (const { key, cells: changed } of gathered.values()) cells.add(key, changed.list())
    return some.length
  }

  /** Stops; what waits is counted after the next start. */
  async function close(): Promise<void> {
    closed = true
    await working
  }

  return { cells, work, clear, close, verifying: { countedAfter, spreadNow, change } }
}
