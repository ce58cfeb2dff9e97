/** Reads what a user has access to: the purchases that are linked to the user now, and the state of each. */
import type { Environment } from '../apple/payloads.ts'
import type { Clock } from '../clock.ts'
import { type Access, type AccessDates, accessOf } from '../ledger/access.ts'
import { stateAt } from '../ledger/subscription.ts'
import type { Store } from '../store/store.ts'
import { labelOf, type Proof, type Verification } from './link.ts'

type Row = AccessDates & {
  original_transaction_id: string
  product_id: string
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string
}

/** A purchase of a user. `verification` is the label of its link. */
type ProductAccess = Access & {
  product_id: string
  state: ReturnType<typeof stateAt>
  environment: Environment
  original_transaction_id: string
  verification: Verification
}

/** What a user has access to. `access_until` is the latest end; null with access is no known end. */
type UserAccess = Access & { products: ProductAccess[] }

/** The maximum number of purchases read, the last linked first. */
const MAX_PRODUCTS = 1_000

/** Opens the reader of access. */
export function openUserAccess({ store, clock }: { store: Store; clock: Clock }) {
  const ofUser = `l.app_id = :app_id and l.app_user_id = :app_user_id and l.store = 'apple'`
  const link =
    'l.id, l.app_user_id, l.proved_app_user_id, l.proofs, l.transaction_id as original_transaction_id'
  const purchases = store.prepare<object, Row>(`
    select ${link}, s.product_id, s.revoked_at, s.expires_at, s.grace_until_at, s.in_billing_retry, s.offer_type,
      s.offer_discount
    from links l join subscriptions s on s.app_id = l.app_id and s.environment = :environment
      and s.original_transaction_id = l.transaction_id
    where ${ofUser}
    union all
    select ${link}, t.product_id, t.revoked_at, null, null, 0, null, null
    from links l join transactions t on t.app_id = l.app_id and t.environment = :environment
      and t.original_transaction_id = l.transaction_id
    where ${ofUser} and t.kind = 'Non-Consumable' and not exists (
      select 1 from transactions later where later.app_id = t.app_id and later.environment = t.environment
        and later.original_transaction_id = t.original_transaction_id
        and (later.purchased_at, later.signed_at, later.transaction_id) > (t.purchased_at, t.signed_at, t.transaction_id))
    order by id desc limit :limit`)

  /**
   * The subscriptions and non-consumables that are linked to a user now. A user without purchases has none. Consumables
   * and non-renewing subscriptions are left out, because Apple does not report how long they last.
   */
  function read(user: { app_id: string; app_user_id: string; environment: Environment }): UserAccess {
    const now = clock()
    const rows = purchases.all({ ...user, limit: MAX_PRODUCTS })
    return totalOf(rows.map((row) => productOf(row, user.environment, now)))
  }

  return { read }
}

function productOf(row: Row, environment: Environment, now: number): ProductAccess {
  const { product_id, original_transaction_id, app_user_id, proved_app_user_id } = row
  const proofs: Proof[] = JSON.parse(row.proofs)
  return {
    product_id,
    ...accessOf(row, now),
    state: stateAt(row, now),
    environment,
    original_transaction_id,
    verification: labelOf({ app_user_id, proved_app_user_id, proofs }),
  }
}

/** With access, the latest end of the products with access; otherwise the latest end of all. */
function totalOf(products: ProductAccess[]): UserAccess {
  const accessible = products.filter(({ has_access }) => has_access)
  const has_access = accessible.length > 0
  const ends = (has_access ? accessible : products).map(({ access_until }) => access_until)
  const known = ends.filter((end) => end !== null)
  const access_until = known.length < ends.length || known.length === 0 ? null : Math.max(...known)
  return { has_access, access_until, products }
}
