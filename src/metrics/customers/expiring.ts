/** Lists customers who will be lost unless they renew, the soonest first. */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { type CustomerPage, formatCursor, type Listing, type ListPosition, parseCursor } from './lists.ts'
import type { CustomerValue } from './value_statements.ts'
import type { CustomerValues } from './values.ts'

type Deps = { store: Store; clock: Clock; values: Pick<CustomerValues, 'endOf' | 'shownScopeId'> }
type Range = Pick<Listing, 'within_days'>

const DAY_MS = 86_400_000

export function openExpiring({ store, clock, values }: Deps) {
  const page = (status: string) =>
    store.prepare<
      ListPosition & { scope: number; until: number; limit: number; status: string },
      CustomerValue
    >(`
      select * from customer_values indexed by customers_by_end where scope_id = (select :scope) ${status}
        and ends_at is not null and (ends_at, lineage_id) > ((select :value), (select :number))
        and ends_at <= (select :until)
      order by ends_at, lineage_id limit (select :limit)`)
  const all = page("and (select :status) = ''")
  const ofStatus = page('and status = (select :status)')

  const untilOf = ({ within_days }: Range): number =>
    within_days === null ? Number.MAX_SAFE_INTEGER : clock() + within_days * DAY_MS

  /**
   * Lists a page of customers in the order in which their subscriptions end.
   *
   * @throws Refusal 400 `invalid_request` for a cursor that no page of this order returned.
   */
  function list({ scopes, status, limit, cursor, within_days }: Listing): CustomerPage {
    const now = { value: clock(), number: Number.MAX_SAFE_INTEGER }
    const from = cursor === null ? now : laterPosition(parseCursor(cursor, 'ends'), now)
    const params = { ...from, until: untilOf({ within_days }), limit: limit + 1, status: status ?? '' }
    const found = scopes
      .flatMap((scope) => values.shownScopeId(scope) ?? [])
      .flatMap((scope) => (status === null ? all : ofStatus).all({ ...params, scope }))
      .sort(bySoonestEnd)
    const customers = found.slice(0, limit)
    const last = customers.at(-1)
    const next =
      found.length > limit && last
        ? formatCursor('ends', { value: last.ends_at ?? 0, number: last.lineage_id })
        : null
    return { customers, next }
  }

  /** Filters customers whose subscription ends within the requested days, the soonest first. */
  const filterExpiring = (customers: readonly CustomerValue[], range: Range): CustomerValue[] =>
    customers
      .filter((customer) => (values.endOf(customer) ?? Number.POSITIVE_INFINITY) <= untilOf(range))
      .sort(bySoonestEnd)

  return { list, filterExpiring }
}

const laterPosition = (a: ListPosition, b: ListPosition): ListPosition => (a.value < b.value ? b : a)
const bySoonestEnd = (a: CustomerValue, b: CustomerValue): number =>
  (a.ends_at ?? 0) - (b.ends_at ?? 0) || a.lineage_id - b.lineage_id
