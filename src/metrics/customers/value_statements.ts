/** Prepares the SQL statements that read and write customer values. */
import type { LineageKey } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { LineageProceeds } from './charges.ts'
import type { CustomerSummary, Row, SubscriptionFacts } from './customer_summary.ts'

/**
 * A row of customer_values. `lineage_id`: the number of the customer’s leading lineage. `ltv_milli`: charges less refunds.
 * `ends_at`: when the first subscription will be lost unless it renews. `proceeds_milli` is null if the proceeds of no
 * charge are known.
 */
export type CustomerValue = CustomerSummary & {
  generation: number
  lineage_id: number
  scope_id: number
  id: string
  lineages: number
  ltv_milli: number
  ends_at: number | null
  proceeds_milli: number | null
  proceeds_estimated: number
}

/** A lineage of a customer. `customer_id`: the id that the lineage has as a customer of its own. */
export type Member = Numbered & { customer_id: string }

export const VALUE_COLUMNS: readonly (keyof CustomerValue)[] = [
  ...(['scope_id', 'id', 'lineages', 'ltv_milli', 'ends_at', 'status', 'product_id', 'storefront'] as const),
  ...([
    'next_renewal_at',
    'payments',
    'unpriced',
    'months_milli',
    'charged_milli',
    'refunded_milli',
  ] as const),
  ...(['prorated_milli', 'unconverted', 'mrr_milli', 'risk_milli', 'first_paid_at', 'last_paid_at'] as const),
  ...(['last_seen_at', 'proceeds_milli', 'proceeds_estimated'] as const),
]

type Statement = { run: (value: CustomerValue) => unknown }
/** The maximum number of cached update statements, one for each set of changed columns. In practice few sets occur. */
const STATEMENT_CACHE_SIZE = 100

/** Whether a row affects customer figures. */
export const countsForCustomers = ({ measure }: Row): boolean =>
  measure === 'mrr' || measure === 'mrr.new' || /^(revenue|proceeds)\./.test(measure)

/** In SQL: whether a measure begins with a word and a dot. `/` follows the dot in ASCII. */
const startsWith = (word: string): string => `measure >= '${word}.' and measure < '${word}/'`

/** Prepares the statements. values.ts has the logic that uses them. */
export function openValueStatements(store: Store) {
  const rowsOf = store.prepare<[number, number], Row>(`
    select on_at, measure, product_id, storefront, period, currency, milli, base_milli, count
    from metric_rows where generation = ${bound} and lineage_id = ${bound}
      and (measure in ('mrr', 'mrr.new') or ${startsWith('revenue')} or ${startsWith('proceeds')})
    order by position`)
  const subscriptionOf = store.prepare<LineageKey, SubscriptionFacts>(`
    select product_id, storefront, ownership, offer_type, offer_discount, expires_at, committed_until_at, grace_until_at,
      in_billing_retry, auto_renew_status, revoked_at, apple_status_at, started_at, period_started_at
    from subscriptions where app_id = :app_id and environment = :environment
      and original_transaction_id = :original_transaction_id`)
  const canonical = store.prepare<[string], { canonical_id: string }>(
    'select canonical_id from customers where id = ?',
  )
  const membersOf = store.prepare<[string], Member>(`
    select m.id, m.app_id, m.environment, m.original_transaction_id, c.id as customer_id
    from customers c join metric_lineages m on m.app_id = c.app_id
      and m.environment = c.environment and m.original_transaction_id = c.original_transaction_id
    where c.canonical_id = ${bound}`)
  const proceedsOf = store.prepare<
    [number, number],
    Pick<LineageProceeds, 'proceeds_milli' | 'proceeds_estimated'>
  >('select proceeds_milli, proceeds_estimated from metric_counted where generation = ? and lineage_id = ?')
  const ownerOf = store.prepare<[string], { app_id: string }>('select app_id from customers where id = ?')
  const customer = store.prepare<[number, number], CustomerValue>(
    'select * from customer_values where generation = ? and lineage_id = ?',
  )
  const insert = store.prepare<CustomerValue>(`
    insert into customer_values (generation, lineage_id, ${VALUE_COLUMNS.join(', ')})
    values (:generation, :lineage_id, ${VALUE_COLUMNS.map((name) => `:${name}`).join(', ')})`)
  const updates = new Map<string, Statement>()
  const remove = store.prepare<[number, number]>(
    'delete from customer_values where generation = ? and lineage_id = ?',
  )
  const findScope = store.prepare<[number, string, string], { id: number }>(
    'select id from customer_scopes where generation = ? and app_id = ? and environment = ?',
  )
  const insertScope = store.prepare<[number, string, string]>(
    'insert into customer_scopes (generation, app_id, environment) values (?, ?, ?)',
  )

  /** Updates only changed columns, so that only their indexes are written. */
  function updateColumns(value: CustomerValue, columns: readonly (keyof CustomerValue)[]): void {
    const name = columns.join(' ')
    const known = updates.get(name)
    const statement = known ?? prepareUpdate(columns)
    if (known === undefined && updates.size < STATEMENT_CACHE_SIZE) updates.set(name, statement)
    statement.run(value)
  }

  const prepareUpdate = (columns: readonly (keyof CustomerValue)[]): Statement =>
    store.prepare<CustomerValue>(`
      update customer_values set ${columns.map((name) => `${name} = :${name}`).join(', ')}
      where generation = :generation and lineage_id = :lineage_id`)

  return {
    rowsOf,
    subscriptionOf,
    proceedsOf,
    canonical,
    membersOf,
    ownerOf,
    customer,
    insert,
    updateColumns,
    remove,
    findScope,
    insertScope,
  }
}
