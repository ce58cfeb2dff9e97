/** Everything that happened to a customer, in one order: what was told of, and payments that nobody told of. */
import { happening, type Kind } from '../../events/event_labels.ts'
import type { FeedEvent } from '../../events/feed_event.ts'
import type { Transaction } from './answer.ts'

export const CHAPTERS = ['all', 'money', 'subscription', 'people'] as const
export type Chapter = (typeof CHAPTERS)[number]
export const CHAPTER_TITLES: Record<Chapter, string> = {
  all: 'Everything',
  money: 'Money',
  subscription: 'Subscription',
  people: 'Who it is',
}

/** `hasAmount`: the row shows the money of its event; of several events of one charge only one does. */
export type Item =
  | {
      at: number
      key: string
      chapters: readonly Chapter[]
      event: FeedEvent
      transaction: null
      hasAmount: boolean
    }
  | { at: number; key: string; chapters: readonly Chapter[]; event: null; transaction: Transaction }

const CHAPTER_OF: Record<Kind, Exclude<Chapter, 'all'>> = {
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

/** Types that tell of a charge: the transaction that they name needs no row of its own. */
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
 * Newest first; of a chapter alone where one is asked for. A conversion and the renewal that charges for it are one
 * row. Any other event of the same charge keeps its row and shows the amount in place of the conversion.
 */
export function storyOf(
  events: readonly FeedEvent[],
  transactions: readonly Transaction[],
  chapter: Chapter,
): Item[] {
  const converted = transactionsOf(events, (type) => type === CONVERTED)
  const isRepeated = (event: FeedEvent): boolean =>
    event.type === 'subscription.renewed' && converted.has(transactionIn(event))
  const own = events.filter((event) => !isRepeated(event))
  const charged = transactionsOf(own, (type) => CHARGING.has(type))
  const isShownBeside = (event: FeedEvent): boolean =>
    event.type === CONVERTED && charged.has(transactionIn(event))
  const items: Item[] = [
    ...own.map(
      (event): Item => ({
        at: event.occurred_at,
        key: event.id,
        event,
        transaction: null,
        chapters: chaptersOf(event),
        hasAmount: !isShownBeside(event),
      }),
    ),
    ...transactions
      .filter(({ transaction_id }) => !charged.has(transaction_id) && !converted.has(transaction_id))
      .map(
        (transaction): Item => ({
          at: transaction.purchased_at,
          key: transaction.transaction_id,
          event: null,
          transaction,
          chapters: ['money'],
        }),
      ),
  ]
  return items
    .filter((item) => chapter === 'all' || item.chapters.includes(chapter))
    .toSorted((one, other) => other.at - one.at)
}

/** A conversion is a payment as well as a change of the subscription. */
const chaptersOf = ({ type }: FeedEvent): readonly Chapter[] =>
  type === CONVERTED ? ['money', 'subscription'] : [CHAPTER_OF[happening(type).kind]]
