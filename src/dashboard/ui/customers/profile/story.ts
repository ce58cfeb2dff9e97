/** Everything that happened to a customer, in one order: what was told of, and payments that nobody told of. */
import type { FeedEvent } from '../../events/feed_event.ts'
import { happening, type Kind } from '../../events/happenings.ts'
import type { Transaction } from './answer.ts'

export const CHAPTERS = ['all', 'money', 'subscription', 'people'] as const
export type Chapter = (typeof CHAPTERS)[number]
export const CHAPTER_TITLES: Record<Chapter, string> = {
  all: 'Everything',
  money: 'Money',
  subscription: 'Subscription',
  people: 'Who it is',
}

export type Item =
  | { at: number; key: string; chapter: Exclude<Chapter, 'all'>; event: FeedEvent; transaction: null }
  | { at: number; key: string; chapter: 'money'; event: null; transaction: Transaction }

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

/** Newest first; of a chapter alone where one is asked for. */
export function storyOf(
  events: readonly FeedEvent[],
  transactions: readonly Transaction[],
  chapter: Chapter,
): Item[] {
  const told = new Set(
    events.filter(({ type }) => CHARGING.has(type)).map(({ data }) => data.transaction?.transaction_id),
  )
  const items: Item[] = [
    ...events.map(
      (event): Item => ({
        ...{ at: event.occurred_at, key: event.id, event, transaction: null },
        chapter: CHAPTER_OF[happening(event.type).kind],
      }),
    ),
    ...transactions
      .filter(({ transaction_id }) => !told.has(transaction_id))
      .map(
        (transaction): Item => ({
          ...{ at: transaction.purchased_at, key: transaction.transaction_id, event: null, transaction },
          chapter: 'money',
        }),
      ),
  ]
  return items
    .filter((item) => chapter === 'all' || item.chapter === chapter)
    .toSorted((one, other) => other.at - one.at)
}
