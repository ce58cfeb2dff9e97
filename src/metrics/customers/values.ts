/** Stores the summary of each customer, and updates it in the same unit of work as the customer’s lineages. */
import type { Clock } from '../../clock.ts'
import { customerId } from '../../ledger/customers.ts'
import type { LineageKey } from '../../ledger/ledger.ts'
import type { Store } from '../../store/store.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { LineageProceeds } from './charges.ts'
import { combineSummaries, endsAt, least, lineageSummary, nextChange, type Row } from './customer_summary.ts'
import {
  type CustomerValue,
  countsForCustomers,
  type Member,
  openValueStatements,
  VALUE_COLUMNS,
} from './value_statements.ts'

type Deps = { store: Store; clock: Clock; generations: Generations }

type LineageTotals = Pick<LineageProceeds, 'proceeds_milli' | 'proceeds_estimated'>

/** The new rows and proceeds of a lineage. */
type LineageFigures = { rows: readonly Row[]; proceeds: LineageTotals; now: number }

/**
 * The customer of a lineage after an update. `members`: the customer’s lineages with their rows, the leading lineage
 * first. `due_at`: when the figures of the updated lineage change without new facts; null if never.
 */
export type UpdatedCustomer = {
  members: readonly (Numbered & { rows: readonly Row[] })[]
  due_at: number | null
}

const LEADER_CACHE_SIZE = 1_000

export type CustomerValues = ReturnType<typeof openCustomerValues>

export function openCustomerValues({ store, clock, generations }: Deps) {
  const statements = openValueStatements(store)
  const scopeIds = store.cached(['customer_scopes'], (name): number | null => {
    const [generation, app_id = '', environment = ''] = name.split('\n')
    return statements.findScope.get(Number(generation), app_id, environment)?.id ?? null
  })
  /** Caches the leading lineage of recent customers, for the events that follow an update. An entry may be outdated. */
  const leaderByCustomer = new Map<string, number>()

  /**
   * The lineages of a lineage’s customer, the leading lineage first. The leading lineage has the same id as the customer.
   * While that lineage has no number, the requested lineage leads.
   */
  function membersOf(key: Numbered): { id: string; leader: Member; members: Member[] } {
    const own = customerId(key.app_id, key.environment, key.original_transaction_id)
    const id = statements.canonical.get(own)?.canonical_id ?? own
    const members = statements.membersOf.all(id)
    const leader = members.find(({ customer_id }) => customer_id === id) ?? { ...key, customer_id: own }
    return { id, leader, members: [leader, ...members.filter((one) => one.id !== leader.id)] }
  }

  /** Updates the stored customer of a lineage in a generation. Runs inside the caller’s unit of work. */
  function update(generation: Generation, key: Numbered, { now, ...own }: LineageFigures): UpdatedCustomer {
    const { leader, value, members, due_at } = compute(generation, key, now, own)
    save({ ...value, scope_id: ensureScopeId(generation.id, leader) })
    for (const { id } of members) if (id !== leader.id) statements.remove.run(generation.id, id)
    return { members, due_at }
  }

  /**
   * Computes the summary and the leading lineage of a lineage’s customer as of an instant. Reads the stored rows of the
   * customer’s lineages. `own` replaces the rows and proceeds of the requested lineage, which are not stored yet.
   */
  function compute(
    generation: Generation,
    key: Numbered,
    now: number,
    own: Omit<LineageFigures, 'now'> | null = null,
  ) {
    const { id, leader, members } = membersOf(key)
    const memberFigures = members.map((member) => ({
      ...member,
      ...(own !== null && member.id === key.id
        ? { rows: own.rows.filter(countsForCustomers), proceeds: own.proceeds }
        : {
            rows: statements.rowsOf.all(generation.id, member.id),
            proceeds: statements.proceedsOf.get(generation.id, member.id) ?? NO_PROCEEDS,
          }),
      subscription: statements.subscriptionOf.get(member) ?? null,
    }))
    const requested = memberFigures.find((one) => one.id === key.id)
    const due_at = requested ? nextChange(requested.rows, requested.subscription, now) : null
    const value = customerValue(generation.id, { id, leader, memberFigures }, now)
    return { leader, value, members: memberFigures, due_at }
  }

  type MemberFigures = Numbered & {
    rows: readonly Row[]
    proceeds: LineageTotals
    subscription: ReturnType<typeof statements.subscriptionOf.get> | null
  }
  type CustomerLineages = { id: string; leader: Numbered; memberFigures: readonly MemberFigures[] }

  /** The current summary of a customer. */
  function customerValue(
    generation: number,
    { id, leader, memberFigures }: CustomerLineages,
    now: number,
  ): Omit<CustomerValue, 'scope_id'> {
    const summary = combineSummaries(
      memberFigures.map(({ rows, subscription }) => lineageSummary(rows, subscription ?? null, now)),
    )
    const knownProceeds = memberFigures.flatMap(({ proceeds }) => proceeds.proceeds_milli ?? [])
    const { charged_milli, refunded_milli, prorated_milli } = summary
    return {
      generation,
      lineage_id: leader.id,
      id,
      lineages: memberFigures.length,
      ltv_milli: charged_milli - refunded_milli - prorated_milli,
      ends_at: least(memberFigures.map((one) => (one.subscription ? endsAt(one.subscription, now) : null))),
      ...summary,
      proceeds_milli: knownProceeds.length === 0 ? null : knownProceeds.reduce((sum, one) => sum + one, 0),
      proceeds_estimated: memberFigures.reduce((sum, { proceeds }) => sum + proceeds.proceeds_estimated, 0),
    }
  }

  function save(value: CustomerValue): void {
    if (leaderByCustomer.size >= LEADER_CACHE_SIZE) leaderByCustomer.clear()
    leaderByCustomer.set(value.id, value.lineage_id)
    const known = statements.customer.get(value.generation, value.lineage_id)
    if (known === undefined) return void statements.insert.run(value)
    const changed = VALUE_COLUMNS.filter((name) => known[name] !== value[name])
    if (changed.length > 0) statements.updateColumns(value, changed)
  }

  const ensureScopeId = (generation: number, { app_id, environment }: LineageKey): number =>
    scopeIds([generation, app_id, environment].join('\n')) ??
    Number(statements.insertScope.run(generation, app_id, environment).lastInsertRowid)

  /** The id of an app and environment in customer_scopes, in the shown generation; null if it has no customers. */
  function shownScopeId({ app_id, environment }: Pick<LineageKey, 'app_id' | 'environment'>): number | null {
    const shown = generations.shownOf(app_id)
    return shown && scopeIds([shown.id, app_id, environment].join('\n'))
  }

  /** When the first of a customer’s lineages will be lost unless it renews, in ms; null if none will be lost. */
  const endOf = ({ ends_at }: CustomerValue): number | null =>
    ends_at !== null && ends_at > clock() ? ends_at : null

  function findByCanonicalId(id: string): CustomerValue | null {
    const first = statements.ownerOf.get(id)
    const shown = first && generations.shownOf(first.app_id)
    if (!shown) return null
    const cachedLeader = leaderByCustomer.get(id)
    const found = cachedLeader === undefined ? undefined : statements.customer.get(shown.id, cachedLeader)
    if (found?.id === id) return found
    for (const member of statements.membersOf.all(id)) {
      const value = statements.customer.get(shown.id, member.id)
      if (value) return value
    }
    return null
  }

  return { update, compute, endOf, findByCanonicalId, membersOf, shownScopeId, statements }
}

const NO_PROCEEDS = { proceeds_milli: null, proceeds_estimated: 0 }
