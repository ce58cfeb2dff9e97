/** The items of the activity list: events, and payments without an event. */
import { eventLabel, type Kind } from '../../events/event_labels.ts'
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

/** `hasAmount`: the row shows the event's amount. Of several events of one charge, only one shows it. */
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

const SECTION_OF: Record<Kind, Exclude<Section, 'all'>> = {
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
const CHARGING = new Set([
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

/** The transactions that events of some types name. */
const transactionsOf = (events: readonly FeedEvent[], isOne: (type: string) => boolean) =>
  new Set<string | undefined>(
    events.filter(({ type }) => isOne(type)).flatMap((event) => transactionIn(event) ?? []),
  )

/**
 * The items of a section, newest first. A conversion and the renewal that charges for it are one row. Any other event
 * of the same charge keeps its row and shows the amount in place of the conversion.
 */
export function timelineOf(
  events: readonly FeedEvent[],
  transactions: readonly Transaction[],
  section: Section,
): TimelineItem[] {
  const converted = transactionsOf(events, (type) => type === CONVERTED)
  const isRepeated = (event: FeedEvent): boolean =>
    event.type === 'subscription.renewed' && converted.has(transactionIn(event))
  const own = events.filter((event) => !isRepeated(event))
  const charged = transactionsOf(own, (type) => CHARGING.has(type))
  const hasChargeRow = (event: FeedEvent): boolean =>
    event.type === CONVERTED && charged.has(transactionIn(event))
  const items: TimelineItem[] = [
    ...own.map(
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

/** A conversion is a payment as well as a change of the subscription. */
const sectionsOf = ({ type }: FeedEvent): readonly Section[] =>
  type === CONVERTED ? ['money', 'subscription'] : [SECTION_OF[eventLabel(type).kind]]
