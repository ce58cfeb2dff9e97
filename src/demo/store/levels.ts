/** The SUBSCRIPTION report: the subscriptions at the end of a day. */
import type { Books, Segment } from '../world/books.ts'
import { endOfSegment } from '../world/books.ts'
import { storefrontOf } from '../world/storefronts.ts'
import { planColumns } from './plans.ts'
import { groupRows, moneyText, offerNameOf, type Row } from './tables.ts'

const COUNT_COLUMNS = [
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
type CountColumn = (typeof COUNT_COLUMNS)[number]

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
  ...COUNT_COLUMNS,
  // Apple added this column in a later version.
  'Billing Plan',
] as const

const INTRODUCTORY: Record<string, CountColumn> = {
  FREE_TRIAL: 'Active Free Trial Introductory Offer Subscriptions',
  PAY_AS_YOU_GO: 'Active Pay As You Go Introductory Offer Subscriptions',
  PAY_UP_FRONT: 'Active Pay Up Front Introductory Offer Subscriptions',
}
const PROMOTIONAL: Record<string, CountColumn> = {
  FREE_TRIAL: 'Free Trial Promotional Offer Subscriptions',
  PAY_AS_YOU_GO: 'Pay As You Go Promotional Offer Subscriptions',
  PAY_UP_FRONT: 'Pay Up Front Promotional Offer Subscriptions',
}
const CODES: Record<string, CountColumn> = {
  FREE_TRIAL: 'Free Trial Offer Code Subscriptions',
  PAY_AS_YOU_GO: 'Pay As You Go Offer Code Subscriptions',
  PAY_UP_FRONT: 'Pay Up Front Offer Code Subscriptions',
}
const WIN_BACKS: Record<string, CountColumn> = {
  FREE_TRIAL: 'Free Trial Win-back Offers',
  PAY_AS_YOU_GO: 'Pay As You Go Win-back Offers',
  PAY_UP_FRONT: 'Pay Up Front Win-back Offers',
}
const COLUMNS_BY_OFFER_TYPE = { 1: INTRODUCTORY, 2: PROMOTIONAL, 3: CODES, 4: WIN_BACKS }

function activeColumn({ offer }: Segment): CountColumn {
  if (offer === null) return 'Active Standard Price Subscriptions'
  return COLUMNS_BY_OFFER_TYPE[offer.type][offer.discount] ?? 'Active Standard Price Subscriptions'
}

/** The column that counts a subscription at an instant; null if the subscription has ended or not begun. */
function countColumnAt(segment: Segment, at: number): CountColumn | null {
  const { retry_from, retry_until } = segment
  if (retry_from !== null && retry_from <= at && at < (retry_until ?? Infinity)) return 'Billing Retry'
  if (segment.from > at || at >= endOfSegment(segment)) return null
  return at < segment.paid_until ? activeColumn(segment) : 'Grace Period'
}

function rowOf(segment: Segment, column: CountColumn): Row {
  const counts = Object.fromEntries(COUNT_COLUMNS.map((name) => [name, 0]))
  const { offer, plan } = segment
  return {
    ...planColumns(segment.bundle_id, plan),
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
    [column]: 1,
    Subscribers: column === 'Billing Retry' ? 0 : 1,
    'Billing Plan': plan.committed ? 'Monthly with 12-Month Commitment' : null,
  }
}

/** The report rows at an instant. `known` returns whether a segment has reached App Store Connect. */
export function levelRows(books: Books, at: number, known: (segment: Segment) => boolean): Row[] {
  const rows: Row[] = []
  for (const segment of books.segments) {
    if (segment.environment !== 'production' || segment.shared || segment.from > at) continue
    const column = countColumnAt(segment, at)
    if (column !== null && known(segment)) rows.push(rowOf(segment, column))
  }
  return groupRows(rows, COUNT_COLUMNS)
}
