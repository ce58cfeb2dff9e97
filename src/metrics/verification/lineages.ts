/** Verifies that the stored rows, customers and contributions equal those computed from the facts. */
import type { Contribution, Contributions } from '../cohorts/contributions.ts'
import { nextChange } from '../customers/customer_summary.ts'
import { countsForCustomers, VALUE_COLUMNS } from '../customers/value_statements.ts'
import type { CustomerValues } from '../customers/values.ts'
import type { MetricRow } from '../lineage/rows.ts'
import {
  type CountedLineage,
  type Counting,
  type LineageFigures,
  nextDueAt,
  ROW_COLUMNS,
} from '../upkeep/counting.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { Staleness } from './staleness.ts'

type Deps = {
  counting: Counting
  values: CustomerValues
  contributions: Contributions
  staleness: Staleness
  /** The stored contribution of a customer, by the number of the leading lineage; null if there is none. */
  contributionOf: (generation: number, lineage_id: number) => string | null
  at: number
}

const TOTAL_COLUMNS = ['is_provisional', 'proceeds_milli', 'proceeds_estimated', 'last_charge_day'] as const
const CUSTOMER_COLUMNS = VALUE_COLUMNS.filter((name) => name !== 'scope_id')

/** Compares single lineages. Each function describes the first difference; null if there is none. */
export function openLineageComparison({
  counting,
  values,
  contributions,
  staleness,
  contributionOf,
  at,
}: Deps) {
  /** Compares a lineage that is not due with the figures computed from its facts. */
  function compareLineage(
    generation: Generation,
    key: Numbered,
    counted: CountedLineage | null,
  ): string | null {
    const figures = counting.figuresOf(generation, key)
    if (figures === null) return null
    const name = key.original_transaction_id
    if (counted === null) return `${name} has not been counted`
    const difference =
      compareRows(figures.rows, counting.storedRows(generation.id, key.id)) ??
      compareTotals(key, { counted, figures })
    return difference && `${name}: ${difference}`
  }

  function compareTotals(
    key: Numbered,
    { counted, figures }: { counted: CountedLineage; figures: LineageFigures },
  ): string | null {
    const now = Math.max(at, counted.counted_at)
    const subscription = values.statements.subscriptionOf.get(key) ?? null
    const changes_at = nextChange(figures.rows.filter(countsForCustomers), subscription, now)
    const totals = { ...counting.totalsOf(figures, now), due_at: nextDueAt(figures.rows, changes_at, now) }
    return compareColumns([...TOTAL_COLUMNS, 'due_at'], counted, totals)
  }

  /**
   * Compares the customer of a lineage, and the customer’s contribution, with the facts, if none of the customer’s lineages
   * is due. A customer with several lineages is compared once, for the first lineage.
   */
  function compareCustomer(generation: Generation, key: Numbered): string | null {
    const { members } = values.membersOf(key)
    if (members.some(({ id }) => id < key.id)) return null
    let now = at
    for (const member of members) {
      const counted = staleness.countedIn(generation, member)
      if (counted === null || counted === 'due') return null
      now = Math.max(now, counted.counted_at)
    }
    // While the lineage that has the customer’s id has no number, another lineage may lead the customer.
    const target = members.find(({ id }) => values.statements.customer.get(generation.id, id)) ?? key
    const computed = values.compute(generation, target, now)
    return compareValue(generation, computed) ?? compareContribution(generation, computed, now)
  }

  type Computed = ReturnType<CustomerValues['compute']>

  function compareValue({ id }: Generation, { leader, value, members }: Computed): string | null {
    for (const member of members) {
      const stored = values.statements.customer.get(id, member.id)
      if (member.id !== leader.id && stored)
        return `the customer ${stored.id}: ${member.original_transaction_id} does not lead it`
    }
    const stored = values.statements.customer.get(id, leader.id)
    const name = `the customer ${value.id}`
    if (stored === undefined) return `${name} is not stored`
    const scope = values.statements.findScope.get(id, leader.app_id, leader.environment)
    const difference = compareColumns([...CUSTOMER_COLUMNS, 'scope_id'], stored, {
      ...value,
      scope_id: scope?.id ?? null,
    })
    return difference && `${name}: ${difference}`
  }

  function compareContribution(
    generation: Generation,
    { leader, members }: Computed,
    now: number,
  ): string | null {
    const expected = textOf(contributions.currentContribution(generation, members, now))
    const isRight = members.every(
      ({ id }) => storedText(generation.id, id) === (id === leader.id ? expected : 'null'),
    )
    return isRight ? null : `the contribution of the customer of ${leader.original_transaction_id} differs`
  }

  const storedText = (generation: number, lineage_id: number): string =>
    textOf(JSON.parse(contributionOf(generation, lineage_id) ?? 'null'))

  return { compareLineage, compareCustomer }
}

/** Describes the first row that differs. */
function compareRows(expected: readonly MetricRow[], stored: readonly MetricRow[]): string | null {
  const [expectedTexts, storedTexts] = [expected.map(rowText), stored.map(rowText)]
  const most = Math.max(expectedTexts.length, storedTexts.length)
  for (let position = 0; position < most; position += 1) {
    if (expectedTexts[position] === storedTexts[position]) continue
    return `stored ${storedTexts[position] ?? 'nothing'}, expected ${expectedTexts[position] ?? 'nothing'} from the facts`
  }
  return null
}

const rowText = (row: MetricRow): string => JSON.stringify(ROW_COLUMNS.map((name) => row[name]))

/** Describes the first column that differs. */
function compareColumns<Name extends string>(
  names: readonly Name[],
  stored: Readonly<Record<Name, unknown>>,
  expected: Readonly<Record<Name, unknown>>,
): string | null {
  const name = names.find((one) => stored[one] !== expected[one])
  return name === undefined
    ? null
    : `${name}: stored ${stored[name]}, expected ${expected[name]} from the facts`
}

/** A text that does not depend on the order within the contribution. */
const textOf = (contribution: Partial<Contribution> | null): string =>
  JSON.stringify(
    contribution &&
      [contribution.money, contribution.proceeds, contribution.retained, contribution.failures].map((parts) =>
        parts?.map((part) => JSON.stringify(part)).sort(),
      ),
  )
