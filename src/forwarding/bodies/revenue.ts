/**
 * The revenue that Apple notified with one event. The sum over all events of an app is what its customers paid, minus
 * refunds, as far as Apple sent notifications.
 */
import { decodeBody } from '../../events/codec.ts'
import type { FeedEvent } from '../../events/feed.ts'
import type { EventType } from '../../events/vocabulary.ts'
import type { Store } from '../../store/store.ts'

/** The snapshot fields that revenue depends on. */
type Snapshot = {
  money?: { price_milli: number; refunded_milli?: number; currency: string | null } | null
  transaction?: { transaction_id?: string; ownership?: string; purchased_at?: number }
  notification?: { subtype?: string }
}
/** An event with the fields that revenue depends on. */
type MoneyEvent = Pick<FeedEvent, 'seq' | 'type' | 'signed_at'> & { data: Snapshot }
type Row = Omit<MoneyEvent, 'data'> & { body: Buffer }
type Query = Pick<FeedEvent, 'app_id' | 'environment' | 'subject' | 'seq'> & {
  types: string
  purchased_at: number | null
}

/** Thousandths of `currency`. `revenue_milli` is null if Apple did not report the price. */
export type Revenue = { revenue_milli: number | null; currency: string | null }

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

/** Opens the revenue of events. */
export function openRevenue(store: Pick<Store, 'prepare'>) {
  // Subselects, so that SQLite does not prepare the statement again for each value (see `bound` of the store).
  const earlier = store.prepare<Query, Row>(`
    select seq, type, signed_at, body from events
    where subject = (select :subject) and seq < (select :seq)
      and app_id = :app_id and environment = :environment
      and type in (select value from json_each(:types))
      and (:purchased_at is null or occurred_at = :purchased_at or type in (${LATER_CHARGES.map((type) => `'${type}'`).join(', ')}))`)

  /** The events of the same transaction before `event`. With `purchased_at`, only charges at that instant. */
  function earlierEvents(
    { app_id, environment, subject, seq }: FeedEvent,
    { transaction }: Snapshot,
    types: readonly EventType[],
    purchased_at: number | null,
  ): MoneyEvent[] {
    const query = { app_id, environment, subject, seq, types: JSON.stringify(types), purchased_at }
    return earlier
      .all(query)
      .map(({ body, ...row }) => ({ ...row, data: decodeBody(body) as Snapshot }))
      .filter(({ data }) => data.transaction?.transaction_id === transaction?.transaction_id)
  }

  /** The price, with the first event in the feed that reports the charge of the transaction; then 0. */
  function charged(event: FeedEvent, data: Snapshot): number | null {
    const purchased_at = data.transaction?.purchased_at ?? null
    const isKnown = earlierEvents(event, data, CHARGES, purchased_at).some(isCharge)
    return isKnown ? 0 : (data.money?.price_milli ?? null)
  }

  /**
   * What the event gives back to the customer (negative), or takes again. The newest notification says how much is
   * refunded, so the sum depends neither on the order of arrival nor on repetitions.
   */
  function givenBack(event: FeedEvent, data: Snapshot): number | null {
    const before = earlierEvents(event, data, REFUNDS, null)
    const [refundedBefore, refundedAfter] = [refundedOf(before), refundedOf([...before, { ...event, data }])]
    return refundedBefore === null || refundedAfter === null ? null : refundedBefore - refundedAfter
  }

  /**
   * The revenue of an event: the price with exactly one event of a transaction, minus refunds with the events that
   * report or reverse them, and 0 otherwise. Null for `transaction.recorded`, which Apple's history can contain
   * without a notification.
   */
  function revenueOf(event: FeedEvent): Revenue | null {
    if (event.type === 'transaction.recorded') return null
    const data = event.data as Snapshot
    return { revenue_milli: revenueMilli(event, data), currency: data.money?.currency ?? null }
  }

  function revenueMilli(event: FeedEvent, data: Snapshot): number | null {
    // Nobody pays outside production.
    if (event.environment !== 'production' || !isPaidFor(data)) return 0
    if (isCharge({ ...event, data })) return charged(event, data)
    return isOf(REFUNDS, event.type) ? givenBack(event, data) : 0
  }

  return { revenueOf }
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
