/** Stores each customer’s contribution to cohorts, and updates it in the same unit of work as the customer. */
import type { Store } from '../../store/store.ts'
import type { UpdatedCustomer } from '../customers/values.ts'
import type { CountingSettings } from '../lineage/settings.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import { openCohortCells } from './cells.ts'
import { addMoney, addRecoveries, addRetention, type CellChanges, collectCellChanges } from './changes.ts'
import { contributionOf, type DayMoney, type DayProceeds, type RetentionFact } from './contribution.ts'
import { type Failure, openFailures } from './failures.ts'

/** The contribution of all lineages of a customer. */
export type Contribution = {
  money: DayMoney[]
  proceeds: DayProceeds[]
  retained: RetentionFact[]
  failures: Failure[]
}
/** The changed contributions of an update, before and after. */
type ContributionChanges = {
  generation: number
  changes: { previous: Contribution; current: Contribution }[]
}

type Deps = { store: Store; settings: CountingSettings }

const EMPTY: Contribution = { money: [], proceeds: [], retained: [], failures: [] }

export type Contributions = ReturnType<typeof openContributions>
/** Collects the changed cohort sums of many customers, and writes them together. */
export type CohortSums = ReturnType<Contributions['openSums']>

export function openContributions({ store, settings }: Deps) {
  const cells = openCohortCells(store)
  const failures = openFailures(store)
  const findSpread = store.prepare<[number, number], { spread: string }>(
    'select spread from cohort_customers where generation = ? and lineage_id = ?',
  )
  const upsert = store.prepare<[number, number, string]>(`
    insert into cohort_customers (generation, lineage_id, spread) values (?, ?, ?)
    on conflict (generation, lineage_id) do update set spread = excluded.spread`)
  const remove = store.prepare<[number, number]>(
    'delete from cohort_customers where generation = ? and lineage_id = ?',
  )

  /**
   * Stores the current contribution of a customer, and removes those of customers that merged with it. Returns the changes
   * of contributions. Runs inside a unit of work.
   */
  function update(generation: Generation, { members }: UpdatedCustomer, now: number): ContributionChanges {
    const [leader, ...others] = members
    const result: ContributionChanges = { generation: generation.id, changes: [] }
    if (leader === undefined) return result
    for (const { id } of others) replace(result, id, null)
    replace(result, leader.id, currentContribution(generation, members, now))
    return result
  }

  /** Replaces the contribution that is stored under the number of a leading lineage; null removes it. */
  function replace(result: ContributionChanges, lineage_id: number, current: Contribution | null): void {
    const before = findSpread.get(result.generation, lineage_id)?.spread ?? null
    const after = current && JSON.stringify(current)
    if (before === after) return
    result.changes.push({ previous: before === null ? EMPTY : JSON.parse(before), current: current ?? EMPTY })
    if (after === null) remove.run(result.generation, lineage_id)
    else upsert.run(result.generation, lineage_id, after)
  }

  /** Computes the current contribution of a customer; null if it is empty. */
  function currentContribution(
    generation: Generation,
    members: UpdatedCustomer['members'],
    now: number,
  ): Contribution | null {
    const calendar = settings.calendarOf(generation.time_zone)
    const spread: Contribution = { money: [], proceeds: [], retained: [], failures: [] }
    for (const member of members) {
      const { money, proceeds, retained } = contributionOf(member.rows, calendar, now)
      spread.money.push(...money)
      spread.proceeds.push(...proceeds)
      if (retained) spread.retained.push(retained)
      spread.failures.push(...failures.read(member, calendar))
    }
    return Object.values(spread).every((parts) => parts.length === 0) ? null : spread
  }

  function openSums() {
    const changesByScope = new Map<string, { key: Numbered; generation: number; cells: CellChanges }>()

    function add(key: Numbered, { generation, changes }: ContributionChanges): void {
      if (changes.length === 0) return
      const name = `${generation} ${key.app_id} ${key.environment}`
      const scopeChanges = changesByScope.get(name) ?? { key, generation, cells: collectCellChanges() }
      changesByScope.set(name, scopeChanges)
      for (const { previous, current } of changes) addDifference(scopeChanges.cells, previous, current)
    }

    /** Writes the changes inside a unit of work. */
    function write(): void {
      for (const { key, generation, cells: changed } of changesByScope.values()) {
        const { app_id, environment } = key
        cells.add({ generation, app_id, environment }, changed.list())
      }
    }

    return { add, write }
  }

  return { cells, update, currentContribution, openSums }
}

/** Adds the changes of cells when a contribution changes from `previous` to `current`. */
function addDifference(changed: CellChanges, previous: Contribution, current: Contribution): void {
  for (const [{ retained, failures: failed }, sign] of [[previous, -1] as const, [current, 1] as const]) {
    for (const one of retained) addRetention(changed, one, sign)
    addRecoveries(changed, failed, sign)
  }
  addMoney(changed, previous, current)
}

/** Adds a contribution to cells. `spread`: its stored JSON. */
export const addStored = (cells: CellChanges, spread: string): void =>
  addDifference(cells, EMPTY, { ...EMPTY, ...JSON.parse(spread) })
