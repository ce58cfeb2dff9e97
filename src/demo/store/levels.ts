/** The SUBSCRIPTION report: the subscriptions at the end of a day. */
import type { Books, Segment } from '../world/books.ts'
import { endOfSegment } from '../world/books.ts'
import { storefrontOf } from '../world/storefronts.ts'
import { planFacts } from './plans.ts'
import { groupRows, moneyText, offerNameOf, type Row } from './tables.ts'

const COUNTS = [
  'Active Standard Price Subscriptions',
  'Active Free Trial Introductory Offer Subscriptions',
  'Active Pay Up Front Introductory Offer Subscriptions',
  'Active Pay As You Go Introductory Offer Subscriptions',
  'Free Trial Promotional Offer Subscriptions',
  'Pay Up Front Promotional Offer Subscriptions',
  'Pay As You Go Promotional Offer Subscriptions',
  'Free Trial Offer Code Subscriptions',
  'Pay Up Front Offer Code Subscriptions',
  'Pay As You Go Offer Code Subscriptions',
  'Marketing Opt-Ins',
  'Billing Retry',
  'Grace Period',
  'Subscribers',
  'Free Trial Win-back Offers',
  'Pay Up Front Win-back Offers',
  'Pay As You Go Win-back Offers',
] as const
type Count = (typeof COUNTS)[number]

export const LEVEL_COLUMNS = [
  'App Name',
  'App Apple ID',
  'Subscription Name',
  'Subscription Apple ID',
  'Subscription Group ID',
  'Standard Subscription Duration',
  'Subscription Offer Name',
  'Promotional Offer ID',
  'Customer Price',
  'Customer Currency',
  'Developer Proceeds',
  'Proceeds Currency',
  'Preserved Pricing',
  'Proceeds Reason',
  'Client',
  'Device',
  'State',
  'Country',
  ...COUNTS,
  // A column that came with a later version, as they do.
  'Billing Plan',
] as const

const INTRODUCTORY: Record<string, Count> = {
  FREE_TRIAL: 'Active Free Trial Introductory Offer Subscriptions',
  PAY_AS_YOU_GO: 'Active Pay As You Go Introductory Offer Subscriptions',
  PAY_UP_FRONT: 'Active Pay Up Front Introductory Offer Subscriptions',
}
const PROMOTIONAL: Record<string, Count> = {
  FREE_TRIAL: 'Free Trial Promotional Offer Subscriptions',
  PAY_AS_YOU_GO: 'Pay As You Go Promotional Offer Subscriptions',
  PAY_UP_FRONT: 'Pay Up Front Promotional Offer Subscriptions',
}
const CODES: Record<string, Count> = {
  FREE_TRIAL: 'Free Trial Offer Code Subscriptions',
  PAY_AS_YOU_GO: 'Pay As You Go Offer Code Subscriptions',
  PAY_UP_FRONT: 'Pay Up Front Offer Code Subscriptions',
}
const WIN_BACKS: Record<string, Count> = {
  FREE_TRIAL: 'Free Trial Win-back Offers',
  PAY_AS_YOU_GO: 'Pay As You Go Win-back Offers',
  PAY_UP_FRONT: 'Pay Up Front Win-back Offers',
}
const BY_TYPE = { 1: INTRODUCTORY, 2: PROMOTIONAL, 3: CODES, 4: WIN_BACKS }

function activeCount({ offer }: Segment): Count {
  if (offer === null) return 'Active Standard Price Subscriptions'
  return BY_TYPE[offer.type][offer.discount] ?? 'Active Standard Price Subscriptions'
}

/** Where a subscription is counted at that instant; null: it is over, or not begun. */
function countActiveAt(segment: Segment, at: number): Count | null {
  const { retry_from, retry_until } = segment
  if (retry_from !== null && retry_from <= at && at < (retry_until ?? Infinity)) return 'Billing Retry'
  if (segment.from > at || at >= endOfSegment(segment)) return null
  return at < segment.paid_until ? activeCount(segment) : 'Grace Period'
}

function rowOf(segment: Segment, count: Count): Row {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, 0]))
  const { offer, plan } = segment
  return {
    ...planFacts(segment.bundle_id, plan),
    'Subscription Offer Name': offerNameOf(offer),
    'Promotional Offer ID': offerNameOf(offer),
    'Customer Price': moneyText(segment.price_milli),
    'Customer Currency': segment.currency,
    'Developer Proceeds': moneyText(segment.proceeds_milli),
    'Proceeds Currency': segment.currency,
    'Preserved Pricing': segment.preserved ? 'Yes' : null,
    'Proceeds Reason': segment.after_a_year ? 'Rate After One Year' : null,
    Device: segment.device,
    Country: storefrontOf(segment.storefront).country,
    ...counts,
    [count]: 1,
    Subscribers: count === 'Billing Retry' ? 0 : 1,
    'Billing Plan': plan.committed ? 'Monthly with 12-Month Commitment' : null,
  }
}

/** The snapshot of an instant. `known` excludes data that has not reached App Store Connect yet. */
export function levelRows(books: Books, at: number, known: (segment: Segment) => boolean): Row[] {
  const rows: Row[] = []
  for (const segment of books.segments) {
    if (segment.environment !== 'production' || segment.shared || segment.from > at) continue
    const count = countActiveAt(segment, at)
    if (count !== null && known(segment)) rows.push(rowOf(segment, count))
  }
  return groupRows(rows, COUNTS)
}
