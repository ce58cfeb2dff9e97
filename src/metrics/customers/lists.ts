/** Lists customers by value, a page at a time. */
import type { Environment } from '../../apple/payloads.ts'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import { type CustomerStatus, STATUSES, type StatusFilter } from './customer_summary.ts'
import type { CustomerValue } from './value_statements.ts'

const VALUE_SORTS = ['ltv', 'last_seen', 'mrr', 'risk'] as const
type ValueSort = (typeof VALUE_SORTS)[number]
/**
 * The orders of customers. ltv: charges less refunds. risk: the monthly value that will not renew or awaits a payment.
 * ends: customers who will be lost unless they renew, the soonest first.
 */
export const CUSTOMER_SORTS = [...VALUE_SORTS, 'ends'] as const
type CustomerSort = (typeof CUSTOMER_SORTS)[number]

/** One app in one environment. */
export type CustomerScope = { app_id: string; environment: Environment }
export type Listing = {
  scopes: readonly CustomerScope[]
  sort: CustomerSort
  status: StatusFilter | null
  /** With the order `ends`: lists only customers whose subscription ends within this many days. */
  within_days: number | null
  limit: number
  /** The `next` of the previous page; null for the first page. */
  cursor: string | null
}
/** A page of customers. `next`: the cursor of the following page; null after the last page. */
export type CustomerPage = { customers: CustomerValue[]; next: string | null }

/** A position in the order: the value that is sorted by, and the number of the customer’s leading lineage. */
export type ListPosition = { value: number; number: number }

const COLUMNS = {
  ltv: 'ltv_milli',
  last_seen: 'last_seen_at',
  mrr: 'mrr_milli',
  risk: 'risk_milli',
} as const satisfies Record<ValueSort, keyof CustomerValue>
/** Rare statuses have partial indexes, because a scan of all customers would read too many other rows. */
const RARE_STATUSES: ReadonlySet<CustomerStatus> = new Set(['committed', 'trial', 'grace', 'billing_retry'])
/** Must equal the condition of the partial indexes literally, or SQLite does not use the indexes. */
const RARE_CONDITION = "status in ('committed', 'trial', 'grace', 'billing_retry')"
/** Statuses whose value is never above zero, so that the scan can start at zero. */
const NEVER_POSITIVE: Partial<Record<ValueSort, ReadonlySet<CustomerStatus>>> = {
  mrr: new Set(['trial', 'expired', 'refunded', 'billing_retry']),
  risk: new Set(['renewing', 'committed', 'trial', 'expired', 'refunded']),
}
const START: ListPosition = { value: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }

/** Compares customers: the greatest value first, among equal values the newest customer first. */
export const byValueDescending =
  (sort: ValueSort) =>
  (a: CustomerValue, b: CustomerValue): number =>
    b[COLUMNS[sort]] - a[COLUMNS[sort]] || b.lineage_id - a.lineage_id

/** Returns the id of an app and environment in customer_scopes, in the shown generation; null if there is none. */
type ScopeId = (scope: CustomerScope) => number | null

export function openLists(store: Store, scopeId: ScopeId) {
  const page = (sort: ValueSort, index: string, status: string) => {
    const column = COLUMNS[sort]
    // Parameters are in subselects for speed (see `bound` in the store).
    return store.prepare<ListPosition & { scope: number; limit: number }, CustomerValue>(`
      select * from customer_values indexed by ${index} where scope_id = (select :scope) ${status}
        and (${column}, lineage_id) < ((select :value), (select :number))
      order by ${column} desc, lineage_id desc limit (select :limit)`)
  }
  const ofStatus = (sort: ValueSort, status: CustomerStatus) =>
    RARE_STATUSES.has(status)
      ? page(sort, `rarer_customers_by_${sort}`, `and status = '${status}' and ${RARE_CONDITION}`)
      : page(sort, `customers_by_${sort}`, `and status = '${status}'`)
  const pageOfAll = forEach((sort) => page(sort, `customers_by_${sort}`, ''))
  const pageByStatus = forEach((sort) => ({
    ...fromStatuses((status) => ofStatus(sort, status)),
    one_time: page(sort, `customers_by_${sort}`, 'and status is null'),
  }))

  /**
   * Lists a page of customers. A customer whose position does not change while pages are read appears exactly once.
   *
   * @throws Refusal 400 `invalid_request` for a cursor that no page of this order returned.
   */
  function list({ scopes, sort, status, limit, cursor }: Listing & { sort: ValueSort }): CustomerPage {
    const after = laterPosition(
      cursor === null ? START : parseCursor(cursor, sort),
      startPosition(sort, status),
    )
    const statement = status === null ? pageOfAll[sort] : pageByStatus[sort][status]
    const found = scopes
      .flatMap((scope) => scopeId(scope) ?? [])
      .flatMap((scope) => statement.all({ ...after, scope, limit: limit + 1 }))
      .sort(byValueDescending(sort))
    const customers = found.slice(0, limit)
    const last = customers.at(-1)
    const position = last && { value: last[COLUMNS[sort]], number: last.lineage_id }
    const next = found.length > limit && position ? formatCursor(sort, position) : null
    return { customers, next }
  }

  return { list }
}

function startPosition(sort: ValueSort, status: StatusFilter | null): ListPosition {
  const isNeverPositive = status !== null && status !== 'one_time' && NEVER_POSITIVE[sort]?.has(status)
  return isNeverPositive ? { ...START, value: 0 } : START
}

const laterPosition = (a: ListPosition, b: ListPosition): ListPosition =>
  a.value < b.value || (a.value === b.value && a.number < b.number) ? a : b

const fromStatuses = <T>(make: (status: CustomerStatus) => T) =>
  Object.fromEntries(STATUSES.map((status) => [status, make(status)])) as Record<CustomerStatus, T>

function forEach<T>(make: (sort: ValueSort) => T): Record<ValueSort, T> {
  return { ltv: make('ltv'), last_seen: make('last_seen'), mrr: make('mrr'), risk: make('risk') }
}

/** Formats the cursor that continues after a position. */
export const formatCursor = (sort: CustomerSort, { value, number }: ListPosition): string =>
  [sort, value, number].join('.')

/** Parses a cursor. @throws Refusal 400 `invalid_request` for a cursor that no page of this order returned. */
export function parseCursor(cursor: string, sort: CustomerSort): ListPosition {
  const [, cursorSort, value, number] = /^(\w+)\.(-?\d{1,16})\.(\d{1,16})$/.exec(cursor) ?? []
  if (cursorSort === sort) return { value: Number(value), number: Number(number) }
  const message = `must be the \`next\` of a page sorted by ${sort}`
  throw new Refusal(400, 'invalid_request', `cursor: ${message}`, { errors: [{ path: 'cursor', message }] })
}
