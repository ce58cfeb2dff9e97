/** The items of the activity list: events, and payments without an event. */
import { eventLabel, isOfferForLater, type Kind } from '../../events/event_labels.ts'
import type { FeedEvent } from '../../events/feed_event.ts'
import type { Transaction } from './profile_answer.ts'

export const SECTIONS = ['all', 'money', 'subscription', 'people'] as const
export type Section = (typeof SECTIONS)[number]
export const SECTION_TITLES: Record<Section, string> = {
  all: 'All activity',
  money: 'Payments',
  subscription: 'Subscription',
  people: 'Identity',
}

/** `hasAmount` is true if the row shows the event's amount. Only one of several events of a charge shows the amount. */
export type TimelineItem =
  | {
      at: number
      key: string
      sections: readonly Section[]
      event: FeedEvent
      transaction: null
      hasAmount: boolean
    }
  | { at: number; key: string; sections: readonly Section[]; event: null; transaction: Transaction }

const SECTION_BY_KIND: Record<Kind, Exclude<Section, 'all'>> = {
  sales: 'money',
  renewals: 'money',
  trials: 'subscription',
  cancellations: 'subscription',
  refunds: 'money',
  billing: 'subscription',
  people: 'people',
  others: 'subscription',
}

const CONVERTED = 'trial.converted'

/** Event types that report a charge; their transaction needs no separate row. */
const CHARGE_TYPES = new Set([
  'trial.started',
  'subscription.started',
  'subscription.renewed',
  'subscription.recovered',
  'subscription.resubscribed',
  'subscription.upgraded',
  'subscription.offer_redeemed',
  'purchase.made',
])

const transactionIn = ({ data }: FeedEvent): string | undefined => data.transaction?.transaction_id

/** The ids of transactions in events whose type `hasType` accepts. */
const transactionsOf = (events: readonly FeedEvent[], hasType: (type: string) => boolean) =>
  new Set<string | undefined>(
    events
      .filter((event) => hasType(event.type) && !isOfferForLater(event))
      .flatMap((event) => transactionIn(event) ?? []),
  )

/**
 * The items of a section, newest first. A conversion and the renewal that charges for it are one row. If another event
 * reports the same charge, that event has a row of its own, and shows the amount instead of the conversion.
 */
export function timelineOf(
  events: readonly FeedEvent[],
  transactions: readonly Transaction[],
  section: Section,
): TimelineItem[] {
  const converted = transactionsOf(events, (type) => type === CONVERTED)
  const isRepeated = (event: FeedEvent): boolean =>
    event.type === 'subscription.renewed' && converted.has(transactionIn(event))
  const shownEvents = events.filter((event) => !isRepeated(event))
  const charged = transactionsOf(shownEvents, (type) => CHARGE_TYPES.has(type))
  const hasChargeRow = (event: FeedEvent): boolean =>
    event.type === CONVERTED && charged.has(transactionIn(event))
  const items: TimelineItem[] = [
    ...shownEvents.map(
      (event): TimelineItem => ({
        at: event.occurred_at,
        key: event.id,
        event,
        transaction: null,
        sections: sectionsOf(event),
        hasAmount: !hasChargeRow(event),
      }),
    ),
    ...transactions
      .filter(({ transaction_id }) => !charged.has(transaction_id) && !converted.has(transaction_id))
      .map(
        (transaction): TimelineItem => ({
          at: transaction.purchased_at,
          key: transaction.transaction_id,
          event: null,
          transaction,
          sections: ['money'],
        }),
      ),
  ]
  return items
    .filter((item) => section === 'all' || item.sections.includes(section))
    .toSorted((one, other) => other.at - one.at)
}

/** The sections of an event. A conversion is both a payment and a change of the subscription. */
function sectionsOf(event: FeedEvent): readonly Section[] {
  if (event.type === CONVERTED) return ['money', 'subscription']
  return [isOfferForLater(event) ? 'subscription' : SECTION_BY_KIND[eventLabel(event.type).kind]]
}
