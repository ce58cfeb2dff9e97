/** Reads what an event is about: the transaction, the events that were recorded with it, its product and its customer. */
import type { App, Apps } from '../../apps/apps.ts'
import { productName } from '../../apps/product_name.ts'
import type { Products } from '../../apps/products.ts'
import { decodeBody } from '../../events/codec.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import type { Enrichment, EventCustomer } from '../../metrics/customers/enrichment.ts'
import type { Store } from '../../store/store.ts'

/** Events of one transaction that are recorded within this time are one payment, in milliseconds. */
export const JOIN_MS = 2_000

/** The fields of a snapshot that messages use. */
export type Snapshot = {
  product_id?: string
  country?: string
  money?: { price_milli: number; refunded_milli?: number; currency: string | null } | null
  transaction?: {
    transaction_id?: string
    ownership?: string
    kind?: string
    offer_type?: number
    offer_discount?: string
    quantity?: number
    purchased_at?: number
  }
  subscription?: {
    auto_renew?: boolean
    expires_at?: number
    grace_until_at?: number
    next_product_id?: string
    renewal_price_milli?: number
    currency?: string
  } | null
}

/**
 * `type` is the most telling event of the transaction. `payment` is the number of the payment within its subscription,
 * 1 for the first; 0 if it is no payment of a subscription. `next_product_name`: the product of the next renewal, if it is
 * another one. `committed_until_at`: the end of a commitment to several periods, in ms since the epoch.
 */
export type Occasion = {
  event: FeedEvent
  snapshot: Snapshot
  type: string
  app_name: string
  product_name: string
  next_product_name: string | null
  committed_until_at: number | null
  payment: number
  customer: EventCustomer | null
}

/** The events of a payment, the most telling first. */
export const PAYMENT_TYPES: readonly EventType[] = [
  'trial.converted',
  'subscription.recovered',
  'subscription.resubscribed',
  'subscription.upgraded',
  'subscription.started',
  'subscription.renewed',
  'subscription.offer_redeemed',
  'purchase.made',
]

/** Whether an event of this type is about a payment. */
export const isPayment = (type: string): boolean =>
  type === 'transaction.recorded' || PAYMENT_TYPES.some((one) => one === type)

type Row = Pick<FeedEvent, 'type'> & { body: Buffer }
type Lineage = Pick<FeedEvent, 'app_id' | 'environment' | 'subject'>

type Deps = {
  store: Pick<Store, 'prepare'>
  feed: Pick<Feed, 'byId'>
  apps: Pick<Apps, 'get'>
  products: Pick<Products, 'list'>
  enrichment: Pick<Enrichment, 'enrich'>
}

/** Opens the reading of occasions. */
export function openOccasions({ store, feed, apps, products, enrichment }: Deps) {
  const near = store.prepare<Lineage & { from: number; until: number }, Row>(`
    select type, body from events
    where subject = (select :subject) and app_id = :app_id and environment = :environment
      and recorded_at between :from and :until order by seq`)
  const payments = store.prepare<Lineage & { until: number }, { count: number }>(`
    select count(*) as count from transactions
    where app_id = :app_id and environment = :environment and original_transaction_id = :subject
      and purchased_at <= :until and price_milli > 0 and ifnull(ownership, 'PURCHASED') = 'PURCHASED'`)
  const commitment = store.prepare<Lineage, { committed_until_at: number | null }>(`
    select committed_until_at from subscriptions
    where app_id = :app_id and environment = :environment and original_transaction_id = :subject`)

  /** What an event is about; null if the event does not exist any more. Waits up to a second for the customer’s figures. */
  async function read(event_id: string): Promise<Occasion | null> {
    const stored = feed.byId(event_id)
    if (stored === null) return null
    const [enriched] = await enrichment.enrich([stored])
    const snapshot = stored.data as Snapshot
    const app = apps.get(stored.app_id ?? '')
    const next_product_id = snapshot.subscription?.next_product_id
    return {
      event: stored,
      snapshot,
      type: typeOf(stored, snapshot),
      app_name: app?.name ?? app?.bundle_id ?? '',
      product_name: nameOfProduct(app, snapshot.product_id ?? ''),
      next_product_name: next_product_id === undefined ? null : nameOfProduct(app, next_product_id),
      committed_until_at: commitment.get(stored)?.committed_until_at ?? null,
      payment: paymentOf(stored, snapshot),
      customer: enriched?.customer ?? null,
    }
  }

  function typeOf(event: FeedEvent, { transaction }: Snapshot): string {
    if (!isPayment(event.type) || event.subject === null) return event.type
    const { app_id, environment, subject, recorded_at } = event
    const range = { from: recorded_at - JOIN_MS, until: recorded_at + JOIN_MS }
    const types = near
      .all({ app_id, environment, subject, ...range })
      .filter(
        ({ body }) =>
          (decodeBody(body) as Snapshot).transaction?.transaction_id === transaction?.transaction_id,
      )
      .map(({ type }) => type)
    return PAYMENT_TYPES.find((type) => types.includes(type)) ?? event.type
  }

  function paymentOf({ app_id, environment, subject }: FeedEvent, { transaction }: Snapshot): number {
    if (transaction?.kind !== 'Auto-Renewable Subscription' || subject === null) return 0
    const until = transaction.purchased_at ?? Number.MAX_SAFE_INTEGER
    return payments.get({ app_id, environment, subject, until })?.count ?? 0
  }

  const nameOfProduct = (app: App | null, product_id: string): string =>
    products.list(app?.id ?? '').find((product) => product.product_id === product_id)?.name ??
    productName(product_id, app?.bundle_id)

  return { read }
}

export type Occasions = ReturnType<typeof openOccasions>
