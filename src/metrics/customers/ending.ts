/** What we remember: the customers who are lost unless somebody does something, the soonest first. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { CustomerValue } from './kept.ts'
import { type CustomerPage, cursorOf, type Listing, type Place, placeOf } from './lists.ts'
import type { CustomerValues } from './values.ts'

type Deps = {
  store: Store
  clock: Clock
  values: Pick<CustomerValues, 'endOf' | 'scopes' | 'kept'>
}
type Due = Pick<CustomerValue, 'lineage_id' | 'scope_id' | 'id' | 'lineages' | 'status'> & { due_at: number }
type Range = Pick<Listing, 'within_days'>

const DAY_MS = 86_400_000
/** Customers looked at before others get their turn. */
const SLICE = 1_000

export function openEnding({ store, clock, values }: Deps) {
  const due = store.prepare<Place & { until: number; limit: number }, Due>(`
    select lineage_id, scope_id, id, lineages, status, due_at
    from customer_values indexed by customer_values_due
    where due_at is not null and (due_at, lineage_id) > ((select :value), (select :number))
      and due_at <= (select :until)
    order by due_at, lineage_id limit (select :limit)`)

  const untilOf = ({ within_days }: Range): number =>
    within_days === null ? Number.MAX_SAFE_INTEGER : clock() + within_days * DAY_MS

  /**
   * A page of those who end. It is found along the instants at which customers come to something else, of which the end
   * is never the first but always one: whoever was not reached yet ends later than what was.
   *
   * @throws Refusal 400 `invalid_request` for a cursor that no page of this order gave.
   */
  async function list(listing: Listing): Promise<CustomerPage> {
    const after = listing.cursor === null ? { value: 0, number: 0 } : placeOf(listing.cursor, 'ends')
    const until = untilOf(listing)
    const wanted = wantedBy(listing)
    let found: Place[] = []
    let from: Place = { value: clock(), number: Number.MAX_SAFE_INTEGER }
    for (;;) {
      const some = due.all({ ...from, until, limit: SLICE })
      const here = some.filter(wanted).flatMap(placesOf)
      const ahead = here.filter((one) => one.value <= until && soonest(after, one) < 0)
      found = [...found, ...ahead].sort(soonest).slice(0, listing.limit + 1)
      const last = some.at(-1)
      const next = found[listing.limit]
      if (some.length < SLICE || !last || (next && next.value < last.due_at)) break
      from = { value: last.due_at, number: last.lineage_id }
      await setImmediate()
    }
    return pageOf(found, listing.limit)
  }

  function wantedBy({ scopes, status }: Listing): (one: Due) => boolean {
    const within = new Set(scopes.map((scope) => values.scopes(`${scope.app_id}\n${scope.environment}`)))
    return (one) => within.has(one.scope_id) && (status === null || one.status === status)
  }

  function placesOf(one: Pick<Due, 'id' | 'lineage_id' | 'lineages' | 'status'>): Place[] {
    const value = values.endOf(one)
    return value === null ? [] : [{ value, number: one.lineage_id }]
  }

  function pageOf(found: readonly Place[], limit: number): CustomerPage {
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    return {
      customers: shown.flatMap(({ number }) => values.kept.customer.get(number) ?? []),
      next: found.length > limit && last ? cursorOf('ends', last) : null,
    }
  }

  /** Those of some customers who end within the days asked for, the soonest first. */
  function among(customers: readonly CustomerValue[], range: Range): CustomerValue[] {
    const until = untilOf(range)
    return customers
      .flatMap((customer) => placesOf(customer).map((place) => ({ customer, place })))
      .filter(({ place }) => place.value <= until)
      .sort((a, b) => soonest(a.place, b.place))
      .map(({ customer }) => customer)
  }

  return { list, among }
}

const soonest = (a: Place, b: Place): number => a.value - b.value || a.number - b.number
