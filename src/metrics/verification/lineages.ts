/** What we compute: whether what is kept of lineages, customers and cohorts is what the facts give. */
import type { Spread, Spreads } from '../cohorts/contributions.ts'
import { COLUMNS, isOfCustomers } from '../customers/kept.ts'
import type { CustomerValues } from '../customers/values.ts'
import { nextChange } from '../customers/worth.ts'
import type { MetricRow } from '../lineage/rows.ts'
import { type CountedLineage, type Counting, type FromFacts, ROW, soonest } from '../upkeep/counting.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { Behind } from './behind.ts'

type Deps = {
  counting: Counting
  values: CustomerValues
  spreads: Spreads
  behind: Behind
  /** What is kept of what a customer adds to cohorts, by the lineage that leads it; null where nothing is. */
  spreadOf: (generation: number, lineage_id: number) => string | null
  at: number
}

const TOTALS = ['is_provisional', 'proceeds_milli', 'proceeds_estimated', 'last_charge_day'] as const
const OF_CUSTOMER = COLUMNS.filter((name) => name !== 'scope_id')

/** Compares one lineage after the other; each function gives the first difference in words, null where there is none. */
export function openLineageComparison({ counting, values, spreads, behind, spreadOf, at }: Deps) {
  /** Whether a lineage that is not due was counted as its facts say. */
  function ofLineage(generation: Generation, key: Numbered, counted: CountedLineage | null): string | null {
    const found = counting.fromFacts(generation, key)
    if (found === null) return null
    const name = key.original_transaction_id
    if (counted === null) return `${name} is not counted`
    const difference =
      ofRows(found.rows, counting.kept(generation.id, key.id)) ??
      ofTotals(generation, key, { counted, found })
    return difference && `${name}: ${difference}`
  }

  function ofTotals(
    generation: Generation,
    key: Numbered,
    { counted, found }: { counted: CountedLineage; found: FromFacts },
  ): string | null {
    const now = Math.max(at, counted.counted_at)
    const standing = values.kept.standingOf.get(key) ?? null
    const changes_at = nextChange(found.rows.filter(isOfCustomers), standing, now)
    const totals = {
      ...counting.totalsOf(generation, key, found),
      due_at: soonest(found.rows, changes_at, now),
    }
    return ofColumns([...TOTALS, 'due_at'], counted, totals)
  }

  /**
   * Whether the customer of a lineage, and what it adds to cohorts, are what the facts give, where none of its lineages is
   * due. A customer of several lineages is compared with the first of them.
   */
  function ofCustomer(generation: Generation, key: Numbered): string | null {
    const { members } = values.membersOf(key)
    if (members.some(({ id }) => id < key.id)) return null
    let now = at
    for (const member of members) {
      const counted = behind.countedIn(generation, member)
      if (counted === null || counted === 'due') return null
      now = Math.max(now, counted.counted_at)
    }
    // Where the lineage that gives a customer its name is not known, any of the others may lead it.
    const asked = members.find(({ id }) => values.kept.customer.get(generation.id, id)) ?? key
    const computed = values.computed(generation, asked, now)
    return ofValue(generation, computed) ?? ofSpread(generation, computed, now)
  }

  type Computed = ReturnType<CustomerValues['computed']>

  function ofValue({ id }: Generation, { leader, value, members }: Computed): string | null {
    for (const member of members) {
      const kept = values.kept.customer.get(id, member.id)
      if (member.id !== leader.id && kept)
        return `the customer ${kept.id}: ${member.original_transaction_id} does not lead it`
    }
    const kept = values.kept.customer.get(id, leader.id)
    const name = `the customer ${value.id}`
    if (kept === undefined) return `${name} is not kept`
    const scope = values.kept.findScope.get(id, leader.app_id, leader.environment)
    const difference = ofColumns([...OF_CUSTOMER, 'scope_id'], kept, {
      ...value,
      scope_id: scope?.id ?? null,
    })
    return difference && `${name}: ${difference}`
  }

  function ofSpread(generation: Generation, { leader, members }: Computed, now: number): string | null {
    const wanted = textOf(spreads.spreadNow(generation, members, now))
    const isRight = members.every(
      ({ id }) => keptText(generation.id, id) === (id === leader.id ? wanted : 'null'),
    )
    return isRight ? null : `what the customer of ${leader.original_transaction_id} adds to cohorts`
  }

  const keptText = (generation: number, lineage_id: number): string =>
    textOf(JSON.parse(spreadOf(generation, lineage_id) ?? 'null'))

  return { ofLineage, ofCustomer }
}

/** The first row that is not as it should be. */
function ofRows(wanted: readonly MetricRow[], kept: readonly MetricRow[]): string | null {
  const [should, has] = [wanted.map(rowText), kept.map(rowText)]
  const most = Math.max(should.length, has.length)
  for (let position = 0; position < most; position += 1) {
    if (should[position] === has[position]) continue
    return `${has[position] ?? 'nothing'} is kept, the facts give ${should[position] ?? 'nothing'}`
  }
  return null
}

const rowText = (row: MetricRow): string => JSON.stringify(ROW.map((name) => row[name]))

/** The first column that is not as it should be. */
function ofColumns<Name extends string>(
  names: readonly Name[],
  kept: Readonly<Record<Name, unknown>>,
  wanted: Readonly<Record<Name, unknown>>,
): string | null {
  const name = names.find((one) => kept[one] !== wanted[one])
  return name === undefined ? null : `${name} ${kept[name]} is kept, the facts give ${wanted[name]}`
}

/** The same for the same parts in any order. */
const textOf = (spread: Partial<Spread> | null): string =>
  JSON.stringify(
    spread &&
      [spread.money, spread.retained, spread.failures].map((parts) =>
        parts?.map((part) => JSON.stringify(part)).sort(),
      ),
  )
