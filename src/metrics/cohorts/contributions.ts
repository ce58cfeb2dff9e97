/** What we remember: what each customer added to the sums of cohorts, kept up with the customer in one unit of work. */
import type { Store } from '../../store/store.ts'
import type { UpdatedCustomer } from '../customers/values.ts'
import type { CountingSettings } from '../lineage/settings.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import { openCells } from './cells.ts'
import { addMoney, addRecoveries, addRetained, type CohortCells, gathering } from './changes.ts'
import { type DayMoney, type Retained, spreadOf } from './contribution.ts'
import { type Failure, openFailures } from './failures.ts'

/** Of all lineages of a customer together. */
export type Spread = { money: DayMoney[]; retained: Retained[]; failures: Failure[] }
/** What customers added and add now, by the lineage that leads them. */
type Moved = { generation: number; changes: { was: Spread; is: Spread }[] }

type Deps = { store: Store; settings: CountingSettings }

const NOTHING: Spread = { money: [], retained: [], failures: [] }

export type Spreads = ReturnType<typeof openSpreads>
/** Sums of many customers that are written together. */
export type CohortSums = ReturnType<Spreads['openSums']>

export function openSpreads({ store, settings }: Deps) {
  const cells = openCells(store)
  const failures = openFailures(store)
  const find = store.prepare<[number, number], { spread: string }>(
    'select spread from cohort_customers where generation = ? and lineage_id = ?',
  )
  const put = store.prepare<[number, number, string]>(`
    insert into cohort_customers (generation, lineage_id, spread) values (?, ?, ?)
    on conflict (generation, lineage_id) do update set spread = excluded.spread`)
  const remove = store.prepare<[number, number]>(
    'delete from cohort_customers where generation = ? and lineage_id = ?',
  )

  /**
   * Writes down what a customer adds now, who may have taken in others. Returns what that changes in the sums. Inside a
   * unit of work.
   */
  function update(generation: Generation, { members }: UpdatedCustomer, now: number): Moved {
    const [leader, ...others] = members
    const moved: Moved = { generation: generation.id, changes: [] }
    if (leader === undefined) return moved
    for (const { id } of others) move(moved, id, null)
    move(moved, leader.id, spreadNow(generation, members, now))
    return moved
  }

  /** Makes what a lineage adds as the leader of its customer `is`. */
  function move(moved: Moved, lineage_id: number, is: Spread | null): void {
    const before = find.get(moved.generation, lineage_id)?.spread ?? null
    const after = is && JSON.stringify(is)
    if (before === after) return
    moved.changes.push({ was: before === null ? NOTHING : JSON.parse(before), is: is ?? NOTHING })
    if (after === null) remove.run(moved.generation, lineage_id)
    else put.run(moved.generation, lineage_id, after)
  }

  /** What a customer adds; null where that is nothing. */
  function spreadNow(
    generation: Generation,
    members: UpdatedCustomer['members'],
    now: number,
  ): Spread | null {
    const calendar = settings.calendarOf(generation.time_zone)
    const spread: Spread = { money: [], retained: [], failures: [] }
    for (const member of members) {
      const { money, retained } = spreadOf(member.rows, calendar, now)
      spread.money.push(...money)
      if (retained) spread.retained.push(retained)
      spread.failures.push(...failures.of(member, calendar))
    }
    const { money, retained, failures: failed } = spread
    return money.length + retained.length + failed.length === 0 ? null : spread
  }

  function openSums() {
    const gathered = new Map<string, { key: Numbered; generation: number; cells: CohortCells }>()

    function add(key: Numbered, { generation, changes }: Moved): void {
      if (changes.length === 0) return
      const name = `${generation} ${key.app_id} ${key.environment}`
      const known = gathered.get(name) ?? { key, generation, cells: gathering() }
      gathered.set(name, known)
      for (const { was, is } of changes) change(known.cells, was, is)
    }

    /** Writes what was added, inside a unit of work. */
    function write(): void {
      for (const { key, generation, cells: changed } of gathered.values()) {
        const { app_id, environment } = key
        cells.add({ generation, app_id, environment }, changed.list())
      }
    }

    return { add, write }
  }

  return { cells, update, spreadNow, openSums }
}

/** What moves in the sums where a customer adds `is` instead of `was`. */
function change(changed: CohortCells, was: Spread, is: Spread): void {
  for (const [{ retained, failures: failed }, sign] of [[was, -1] as const, [is, 1] as const]) {
    for (const one of retained) addRetained(changed, one, sign)
    addRecoveries(changed, failed, sign)
  }
  addMoney(changed, was.money, is.money)
}

/** Adds what a customer adds by itself, from what is kept of that. */
export const addKept = (cells: CohortCells, spread: string): void =>
  change(cells, NOTHING, { ...NOTHING, ...JSON.parse(spread) })
