/**
 * The revenue that Apple notified with one event, and its proceeds. The sum over all events of an app is what its customers
 * paid, minus refunds, as far as Apple sent notifications.
 */
import { decodeBody } from '../../events/codec.ts'
import type { FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import {
  type PricedCharge,
  type ProceedsCertainty,
  proceedsOfCharge,
  returnedPart,
} from '../../metrics/lineage/proceeds.ts'
import type { AppSettings, SettingsOf } from '../../metrics/lineage/settings.ts'
import type { Store } from '../../store/store.ts'

/** The snapshot fields that revenue depends on. */
type Snapshot = {
  product_id?: string | null
  country?: string | null
  money?: { price_milli: number; refunded_milli?: number; currency: string | null } | null
  transaction?: { transaction_id?: string; ownership?: string; quantity?: number; purchased_at?: number }
  notification?: { subtype?: string }
}
/** An event with the fields that revenue depends on. */
type MoneyEvent = Pick<FeedEvent, 'seq' | 'type' | 'signed_at'> & { data: Snapshot }
type Row = Omit<MoneyEvent, 'data'> & { body: Buffer }
type Query = Pick<FeedEvent, 'app_id' | 'environment' | 'subject' | 'seq'> & {
  types: string
  purchased_at: number | null
}

/**
 * Proceeds in thousandths of `currency`, the organization’s, at the rate of the day of the charge. `basis` is null for an
 * event without revenue.
 */
type EventProceeds = { milli: number; currency: string; basis: ProceedsCertainty | null }

/**
 * `revenue_milli`: thousandths of `currency`; null if Apple did not report the price. `proceeds` is null if the price or
 * the rate is unknown, or the event concerns no app.
 */
export type Revenue = {
  revenue_milli: number | null
  currency: string | null
  proceeds: EventProceeds | null
}

/**
 * What an event adds to a charge, in thousandths of its currency: what is charged, and what is refunded before and after
 * the event.
 */
type Change = { charged_milli: number; refunded_before_milli: number; refunded_milli: number }

const NO_CHANGE: Change = { charged_milli: 0, refunded_before_milli: 0, refunded_milli: 0 }

/** Reports of a charge that do not occur at the instant of the purchase. */
const LATER_CHARGES: readonly EventType[] = ['subscription.offer_redeemed', 'subscription.migrated']
const CHARGES: readonly EventType[] = [
  'subscription.started',
  'subscription.renewed',
  'subscription.recovered',
  'subscription.resubscribed',
  'subscription.upgraded',
  'purchase.made',
  ...LATER_CHARGES,
]
const REVERSALS: readonly EventType[] = ['subscription.refund_reversed', 'purchase.refund_reversed']
const REFUNDS: readonly EventType[] = ['subscription.refunded', 'purchase.refunded', ...REVERSALS]
/** With these subtypes, an offer was redeemed with a new purchase. Otherwise it applies to a later period. */
const PURCHASE_SUBTYPES = ['UPGRADE', 'INITIAL_BUY', 'RESUBSCRIBE']

type Deps = { store: Pick<Store, 'prepare'>; settingsOf: SettingsOf }

/** Opens the reading of the events of a transaction. */
function openEarlierEvents(store: Deps['store']) {
  // Subselects, so that SQLite does not prepare the statement again for each value (see `bound` of the store).
  const earlier = store.prepare<Query, Row>(`
    select seq, type, signed_at, body from events
    where subject = (select :subject) and seq < (select :seq)
      and app_id = :app_id and environment = :environment
      and type in (select value from json_each(:types))
      and (:purchased_at is null or occurred_at = :purchased_at or type in (${LATER_CHARGES.map((type) => `'${type}'`).join(', ')}))`)

  /** The events of the same transaction before an event. With `purchased_at`, only charges at that instant. */
  return (
    { app_id, environment, subject, seq }: FeedEvent,
    { transaction }: Snapshot,
    types: readonly EventType[],
    purchased_at: number | null,
  ): MoneyEvent[] => {
    const query = { app_id, environment, subject, seq, types: JSON.stringify(types), purchased_at }
    return earlier
      .all(query)
      .map(({ body, ...row }) => ({ ...row, data: decodeBody(body) as Snapshot }))
      .filter(({ data }) => data.transaction?.transaction_id === transaction?.transaction_id)
  }
}

/** Opens the revenue of events. */
export function openRevenue({ store, settingsOf }: Deps) {
  const earlierEvents = openEarlierEvents(store)

  /** The price, with the first event in the feed that reports the charge of the transaction; then nothing. */
  function charged(event: FeedEvent, data: Snapshot): Change | null {
    const purchased_at = data.transaction?.purchased_at ?? null
    const isKnown = earlierEvents(event, data, CHARGES, purchased_at).some(isCharge)
    if (isKnown) return NO_CHANGE
    const charged_milli = data.money?.price_milli
    return charged_milli === undefined ? null : { ...NO_CHANGE, charged_milli }
  }

  /**
   * What is refunded before and after the event. The newest notification says how much is refunded, so the sum depends
   * neither on the order of arrival nor on repetitions.
   */
  function givenBack(event: FeedEvent, data: Snapshot): Change | null {
    const before = earlierEvents(event, data, REFUNDS, null)
    const [refundedBefore, refundedAfter] = [refundedOf(before), refundedOf([...before, { ...event, data }])]
    if (refundedBefore === null || refundedAfter === null) return null
    return { charged_milli: 0, refunded_before_milli: refundedBefore, refunded_milli: refundedAfter }
  }

  /**
   * The revenue of an event: the price with exactly one event of a transaction, minus refunds with the events that
   * report or reverse them, and 0 otherwise. Null for `transaction.recorded`, which Apple's history can contain
   * without a notification.
   */
  function revenueOf(event: FeedEvent): Revenue | null {
    if (event.type === 'transaction.recorded') return null
    const data = event.data as Snapshot
    const change = changeOf(event, data)
    return {
      revenue_milli: change && change.charged_milli + change.refunded_before_milli - change.refunded_milli,
      currency: data.money?.currency ?? null,
      proceeds: change && proceedsOf(data, change, event.app_id === null ? null : settingsOf(event.app_id)),
    }
  }

  function changeOf(event: FeedEvent, data: Snapshot): Change | null {
    // Nobody pays outside production.
    if (event.environment !== 'production' || !isPaidFor(data)) return NO_CHANGE
    if (isCharge({ ...event, data })) return charged(event, data)
    return isOf(REFUNDS, event.type) ? givenBack(event, data) : NO_CHANGE
  }

  return { revenueOf }
}

/** The same part of the proceeds of the charge as `change` is of its price. */
function proceedsOf(data: Snapshot, change: Change, settings: AppSettings | null): EventProceeds | null {
  if (settings === null) return null
  const { charged_milli, refunded_before_milli, refunded_milli } = change
  const milli = refunded_milli - refunded_before_milli
  const { currency } = settings
  if (charged_milli === 0 && milli === 0) return { milli: 0, currency, basis: null }
  const charge = chargeOf(data)
  const proceeds = charge && proceedsOfCharge(charge, settings)
  if (charge === null || proceeds === null || proceeds.base_milli === null) return null
  const { base_milli, basis } = proceeds
  if (charged_milli !== 0) return { milli: base_milli, currency, basis }
  const returned = returnedPart(base_milli, { ...charge, milli, refunded_before_milli })
  return { milli: -returned, currency, basis }
}

const isOf = (types: readonly EventType[], type: string): boolean =>
  (types as readonly string[]).includes(type)

/** Family Sharing gives a transaction with a price to members who do not pay. */
const isPaidFor = ({ transaction }: Snapshot): boolean =>
  transaction !== undefined && (transaction.ownership ?? 'PURCHASED') === 'PURCHASED'

const isCharge = ({ type, data }: MoneyEvent): boolean =>
  type === 'subscription.offer_redeemed'
    ? PURCHASE_SUBTYPES.includes(data.notification?.subtype ?? '')
    : isOf(CHARGES, type)

/** What the newest notification says was refunded, in thousandths; null if Apple did not report the price. */
function refundedOf(events: readonly MoneyEvent[]): number | null {
  const newest = events.toSorted(bySigning).at(-1)
  if (newest === undefined || isOf(REVERSALS, newest.type)) return 0
  return newest.data.money?.refunded_milli ?? null
}

const bySigning = (a: MoneyEvent, b: MoneyEvent): number =>
  (a.signed_at ?? 0) - (b.signed_at ?? 0) || a.seq - b.seq

/** The charge of an event; null if Apple did not report its price. */
function chargeOf({ product_id, country = null, money, transaction }: Snapshot): PricedCharge | null {
  const at = transaction?.purchased_at
  if (!product_id || !money?.currency || at === undefined) return null
  const { price_milli, currency } = money
  return { product_id, storefront: country, currency, price_milli, quantity: transaction?.quantity ?? 1, at }
}
