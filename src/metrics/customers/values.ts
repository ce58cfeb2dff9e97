/** What we remember: what each customer has come to, kept up with the metrics in one unit of work. */
import { setImmediate } from 'node:timers/promises'
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import { customerId } from '../../ledger/customers.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import type { Metrics } from '../metrics.ts'
import type { Numbered } from '../upkeep.ts'
import { COLUMNS, type CustomerValue, isOfCustomers, type Member, openKeptValues } from './kept.ts'
import { endsAt, least, nextChange, type Row, together, worthOf } from './worth.ts'

type Deps = {
  store: Store
  clock: Clock
  metrics: Pick<Metrics, 'onLineage'>
}

/** How who stands of whom an end is in sight. */
const ENDING: ReadonlySet<string | null> = new Set(['will_cancel', 'committed', 'grace'])
const AT_ONCE = 100
const LEADERS_IN_MIND = 1_000

export type CustomerValues = ReturnType<typeof openCustomerValues>

export function openCustomerValues({ store, clock, metrics }: Deps) {
  const kept = openKeptValues(store)
  const listeners: ((customer: number) => void)[] = []
  const scopes = store.remembering(['customer_scopes'], (name): number | null => {
    const [app_id = '', environment = ''] = name.split('\n')
    return kept.findScope.get(app_id, environment)?.id ?? null
  })
  /** Under which number a customer was kept lately, which is asked for by each event that follows. It may be another by now. */
  const leaders = new Map<string, number>()
  metrics.onLineage(update)

  /**
   * The lineages of the customer of one, the one that leads it first; where that is none of those that metrics know yet,
   * the one that was asked for.
   */
  function membersOf(key: Numbered): { id: string; members: Member[] } {
    const own = customerId(key.app_id, key.environment, key.original_transaction_id)
    const id = kept.canonical.get(own)?.canonical_id ?? own
    const members = kept.membersOf.all(id)
    const leader = members.find(({ customer_id }) => customer_id === id) ?? { ...key, customer_id: own }
    return { id, members: [leader, ...members.filter((one) => one.id !== leader.id)] }
  }

  /** Brings the customer of a lineage up to date, inside the caller's unit of work; `rows` are all that it adds. */
  function update(key: Numbered, rows: readonly Row[] = kept.rowsOf.all(key.id)): void {
    const { id, members } = membersOf(key)
    const [leader = key, ...others] = members
    const ofCustomers = rows.filter(isOfCustomers)
    keep(worthNow(id, leader, members, (one) => (one === key.id ? ofCustomers : kept.rowsOf.all(one))))
    for (const { id: other } of others) if (kept.remove.run(other).changes > 0) tell(other)
    tell(leader.id)
  }

  /** What a customer comes to now. */
  function worthNow(
    id: string,
    { id: lineage_id, app_id, environment }: Numbered,
    members: readonly Numbered[],
    rowsOf: (lineage_id: number) => readonly Row[],
  ) {
    const now = clock()
    const parts = members.map((key) => {
      const rows = rowsOf(key.id)
      const standing = kept.standingOf.get(key) ?? null
      return { worth: worthOf(rows, standing, now), due_at: nextChange(rows, standing, now) }
    })
    const worth = together(parts.map((part) => part.worth))
    const dues = parts.map(({ due_at }) => due_at).filter((at) => at !== null)
    const { charged_milli, refunded_milli, prorated_milli } = worth
    const value: CustomerValue = {
      ...{ lineage_id, scope_id: scopeOf(app_id, environment), id, lineages: members.length },
      ltv_milli: charged_milli - refunded_milli - prorated_milli,
      due_at: dues.length === 0 ? null : Math.min(...dues),
      ...worth,
    }
    return value
  }

  function keep(value: CustomerValue): void {
    if (leaders.size >= LEADERS_IN_MIND) leaders.clear()
    leaders.set(value.id, value.lineage_id)
    const known = kept.customer.get(value.lineage_id)
    if (known === undefined) kept.add.run(value)
    else {
      const changed = COLUMNS.filter((name) => known[name] !== value[name])
      if (changed.length > 0) kept.change(value, changed)
    }
  }

  const scopeOf = (app_id: string, environment: Environment): number =>
    scopes(`${app_id}\n${environment}`) ?? Number(kept.insertScope.run(app_id, environment).lastInsertRowid)

  function tell(customer: number): void {
    for (const listener of listeners) listener(customer)
  }

  /** `listener` is called within the unit of work with the number of each customer that may have changed, or is no more. */
  function onCustomer(listener: (customer: number) => void): void {
    listeners.push(listener)
  }

  /** The customer that a lineage is of, as kept; null while nothing was. */
  function of(key: LineageKey): CustomerValue | null {
    const own = customerId(key.app_id, key.environment, key.original_transaction_id)
    return ofCanonical(kept.canonical.get(own)?.canonical_id ?? own)
  }

  /** When the first of a customer's lineages is lost unless somebody does something, in ms; null where nothing is in sight. */
  function endOf({ id, lineages, status }: Pick<CustomerValue, 'id' | 'lineages' | 'status'>): number | null {
    // Of several subscriptions another may end than the one that the status is of.
    if (lineages === 1 && !ENDING.has(status)) return null
    const standings = kept.membersOf.all(id).flatMap((key) => kept.standingOf.get(key) ?? [])
    return least(standings.map((standing) => endsAt(standing, clock())))
  }

  function ofCanonical(id: string): CustomerValue | null {
    const likely = leaders.get(id)
    const found = likely === undefined ? undefined : kept.customer.get(likely)
    if (found?.id === id) return found
    for (const member of kept.membersOf.all(id)) {
      const value = kept.customer.get(member.id)
      if (value) return value
    }
    return null
  }

  /** Brings up to date what came to something else by time alone; true while there is more. Inside a unit of work. */
  function ripenSome(): boolean {
    const some = kept.due.all(clock(), AT_ONCE)
    for (const { lineage_id } of some) {
      const key = kept.keyOf.get(lineage_id)
      if (key) update(key)
    }
    return some.length === AT_ONCE
  }

  /** Brings up to date what came to something else by time alone. Cheap where nothing did. */
  async function ripen(): Promise<void> {
    if (kept.due.get(clock(), 1) === undefined) return
    while (await store.commit(ripenSome)) await setImmediate()
  }

  /** Makes all of it anew from what lineages add to the metrics, in slices; how many lineages there are. */
  async function rebuild(): Promise<number> {
    await inSlices((after) => {
      const some = kept.stale.all(after, AT_ONCE)
      for (const { lineage_id } of some) if (isNobody(lineage_id)) kept.remove.run(lineage_id)
      return some.map(({ lineage_id }) => lineage_id)
    })
    return inSlices((after) => {
      const some = kept.following.all(after, AT_ONCE)
      for (const key of some) update(key)
      return some.map(({ id }) => id)
    })
  }

  /** Whether no customer is led by this lineage. */
  function isNobody(lineage_id: number): boolean {
    const key = kept.keyOf.get(lineage_id)
    return key === undefined || membersOf(key).members[0]?.id !== lineage_id
  }

  async function inSlices(slice: (after: number) => number[]): Promise<number> {
    let done = 0
    for (let after: number | undefined = 0; after !== undefined; await setImmediate()) {
      const begin: number = after
      const some: number[] = await store.commit(() => slice(begin))
      done += some.length
      after = some.at(-1)
    }
    return done
  }

  /** The first customer that is kept as something else than the facts give, in words; null where there is none. */
  async function firstDifference(): Promise<string | null> {
    await ripen()
    for (let some = kept.following.all(0, AT_ONCE); some.length > 0; await setImmediate()) {
      const found = some.map(differenceOf).find((one) => one !== null)
      if (found) return found
      some = kept.following.all(some.at(-1)?.id ?? 0, AT_ONCE)
    }
    return null
  }

  function differenceOf(key: Numbered): string | null {
    const { id, members } = membersOf(key)
    const is = kept.customer.get(key.id)
    const should =
      members[0]?.id === key.id ? worthNow(id, key, members, (one) => kept.rowsOf.all(one)) : undefined
    const name = COLUMNS.find((one) => is?.[one] !== should?.[one])
    if (name === undefined) return null
    return `the customer ${id}: ${name} ${is?.[name]} is kept, the facts give ${should?.[name]}`
  }

  return { of, endOf, ofCanonical, membersOf, scopes, onCustomer, ripen, rebuild, firstDifference, kept }
}
