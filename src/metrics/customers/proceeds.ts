/** What we remember: what the developer got of each customer, for as long as that holds; it follows a little later. */
import { setImmediate } from 'node:timers/promises'
import type { Rates } from '../../ledger/rates/rates.ts'
import type { Store } from '../../store/store.ts'
import { type DayNumber, dayNumber } from '../calendar.ts'
import type { Reported } from '../reported/reported.ts'
import type { ChargeKept } from './histories.ts'
import type { CustomerValue } from './kept.ts'
import type { CustomerValues } from './values.ts'

/** `base_milli` is null where of no charge anything is known; `last_day` that of the last charge, -1 where there is none. */
type Counted = { base_milli: number | null; estimated: number; last_day: DayNumber }
type Of = { lineage_id: number }
type Kept = Counted & Of & { is_stale: number; last_change: number }

type Deps = {
  store: Store
  values: CustomerValues
  rates: Pick<Rates, 'onChange'>
  reported: Pick<Reported, 'onPrices'>
  /** Each charge of a customer. */
  chargesOf: (value: CustomerValue) => readonly ChargeKept[]
  /** In words, what else proceeds are counted by: the commission, and the currencies. */
  countedBy: () => string
}

/** Customers counted in one unit of work, and compared before others get their turn. */
const AT_ONCE = 10
const COMPARED_AT_ONCE = 100

/**
 * A fact of a customer marks what is kept in its own unit of work. A report or rate of a day marks nobody: it is written
 * down, and holds against all who were charged from that day on and were counted before. What no longer holds is counted
 * by whoever reads it, and kept anew behind that.
 */
export function openKeptProceeds({ store, values, rates, reported, chargesOf, countedBy }: Deps) {
  const find = store.prepare<[number], Kept>('select * from customer_proceeds where lineage_id = ?')
  const mark = store.prepare<[number]>(`
    insert into customer_proceeds (lineage_id, estimated, last_day, last_change, is_stale) values (?, 0, -1, 0, 1)
    on conflict (lineage_id) do update set is_stale = 1`)
  const put = store.prepare<Kept>(`
    insert or replace into customer_proceeds ( lineage_id,  base_milli,  estimated,  last_day,  last_change,  is_stale)
    values                                   (:lineage_id, :base_milli, :estimated, :last_day, :last_change, :is_stale)`)
  const remove = store.prepare<[number]>('delete from customer_proceeds where lineage_id = ?')
  const marked = store.prepare<[number], Of>(
    'select lineage_id from customer_proceeds where is_stale = 1 limit ?',
  )
  const overtaken = store.prepare<[number, number, number, number], Of>(`
    select lineage_id from customer_proceeds where lineage_id > ? and last_change < ? and last_day >= ?
    order by lineage_id limit ?`)
  const change = store.prepare<[number]>(`
    insert into proceeds_changes (from_day, counted_by)
    values (?, coalesce((select counted_by from proceeds_changes order by id desc limit 1), ''))`)
  const changeAll = store.prepare<[string]>(
    'insert into proceeds_changes (from_day, counted_by) values (0, ?)',
  )
  const newest = store.prepare<[], { id: number; counted_by: string }>(
    'select id, counted_by from proceeds_changes order by id desc limit 1',
  )
  const firstDay = store.prepare<[number], { from_day: number | null }>(
    'select min(from_day) as from_day from proceeds_changes where id > ?',
  )
  const dropBefore = store.prepare<[number]>('delete from proceeds_changes where id < ?')
  const followed = store.prepare<[number]>('update proceeds_changes set from_day = null where id = ?')
  const changedFrom = store.remembering(
    ['proceeds_changes'],
    (id) => firstDay.get(Number(id))?.from_day ?? Number.POSITIVE_INFINITY,
  )
  const newestId = () => newest.get()?.id ?? 0
  let working: Promise<void> | null = null
  let isClosed = false

  values.onCustomer((customer) => void mark.run(customer))
  reported.onPrices((day) => void change.run(day))
  rates.onChange(({ from_on }) => void change.run(dayNumber(from_on)))

  const holds = ({ is_stale, last_day, last_change }: Kept): boolean =>
    is_stale === 0 && last_day < changedFrom(String(last_change))

  function count(value: CustomerValue): Counted {
    const charges = chargesOf(value)
    const known = charges.flatMap(({ proceeds }) => proceeds ?? [])
    return {
      base_milli: known.length === 0 ? null : known.reduce((sum, { base_milli }) => sum + base_milli, 0),
      estimated: known.filter(({ basis }) => basis === 'estimated').length,
      last_day: charges.reduce((last, { day }) => Math.max(last, day), -1),
    }
  }

  /** What the developer got of a customer in thousandths, and of how many charges that is an estimate. */
  function of(value: CustomerValue) {
    const kept = find.get(value.lineage_id)
    const isKept = kept !== undefined && holds(kept)
    if (!isKept) later()
    const { base_milli, estimated } = isKept ? kept : count(value)
    return { proceeds_milli: base_milli, proceeds_estimated: estimated }
  }

  /** Inside a unit of work. */
  function countAll(customers: readonly Of[]): void {
    const last_change = newestId()
    for (const { lineage_id } of customers) {
      const value = values.kept.customer.get(lineage_id)
      if (value === undefined) remove.run(lineage_id)
      else put.run({ lineage_id, ...count(value), last_change, is_stale: 0 })
    }
  }

  function countMarked(): boolean {
    const some = marked.all(AT_ONCE)
    countAll(some)
    return some.length === AT_ONCE
  }

  /** Counts all who were counted before the changes so far and are older than none of them. */
  async function followChanges(): Promise<void> {
    const [until, from] = [newestId(), changedFrom('0')]
    if (from === Number.POSITIVE_INFINITY) return
    for (let after: number | undefined = 0; after !== undefined; await setImmediate()) {
      if (isClosed) return
      const begin: number = after
      after = await store.commit(() => {
        const some = overtaken.all(begin, until, from, AT_ONCE)
        countAll(some)
        return some.at(-1)?.lineage_id
      })
    }
    await store.commit(() => {
      dropBefore.run(until)
      followed.run(until)
    })
  }

  async function workAll(): Promise<void> {
    while (!isClosed && (await store.commit(countMarked))) await setImmediate()
    await followChanges()
  }

  /** Keeps what does not hold anew, in slices. Cheap where all does. */
  function work(): Promise<void> {
    working ??= workAll().finally(() => {
      working = null
    })
    return working
  }

  /** What fails is tried again by the next who reads. */
  function later(): void {
    if (!isClosed) work().catch(() => {})
  }

  /** Sees whether everything is counted by something else than before. */
  async function resume(): Promise<void> {
    const now = countedBy()
    if (newest.get()?.counted_by !== now) await store.commit(() => changeAll.run(now))
  }

  /** The first customer of whom something else is kept than the facts give, in words; null where there is none. */
  async function firstDifference(): Promise<string | null> {
    for (let after: number | undefined = 0; after !== undefined; await setImmediate()) {
      const some: Of[] = values.kept.stale.all(after, COMPARED_AT_ONCE)
      const found = some.map(({ lineage_id }) => differenceOf(lineage_id)).find((one) => one !== null)
      if (found) return found
      after = some.at(-1)?.lineage_id
    }
    return null
  }

  function differenceOf(lineage_id: number): string | null {
    const [kept, value] = [find.get(lineage_id), values.kept.customer.get(lineage_id)]
    if (kept === undefined || value === undefined || !holds(kept)) return null
    const { base_milli, estimated } = count(value)
    if (kept.base_milli === base_milli && kept.estimated === estimated) return null
    return `the customer ${value.id}: proceeds of ${kept.base_milli} (estimated: ${kept.estimated}) are kept, the facts give ${base_milli} (${estimated})`
  }

  /** Stops; what does not hold is kept anew after the next start. */
  async function close(): Promise<void> {
    isClosed = true
    await working?.catch(() => {})
  }

  return { of, settle: work, resume, firstDifference, close }
}
