/** The SUBSCRIPTION_EVENT report of a day. */
import type { Books, Entry, Kind, Segment } from '../world/books.ts'
import { endOfSegment } from '../world/books.ts'
import { pacificDay } from '../world/pacific.ts'
import { DAY } from '../world/periods.ts'
import type { Offer } from '../world/products.ts'
import { storefrontOf } from '../world/storefronts.ts'
import { planFacts } from './plans.ts'
import { discountOf, groupRows, offerLengthOf, offerNameOf, type Row } from './tables.ts'

export const EVENT_COLUMNS = [
  'Event Date',
  'Event',
  'App Name',
  'App Apple ID',
  'Subscription Name',
  'Subscription Apple ID',
  'Subscription Group ID',
  'Standard Subscription Duration',
  'Subscription Offer Type',
  'Subscription Offer Duration',
  'Marketing Opt-In',
  'Marketing Opt-In Duration',
  'Preserved Pricing',
  'Proceeds Reason',
  'Subscription Offer Name',
  'Promotional Offer ID',
  'Consecutive Paid Periods',
  'Original Start Date',
  'Device',
  'Client',
  'State',
  'Country',
  'Previous Subscription Name',
  'Previous Subscription Apple ID',
  'Days Before Canceling',
  'Cancellation Reason',
  'Days Canceled',
  'Quantity',
  'Paid Service Days Recovered',
] as const

function isIntroductory(kind: Segment['kind'] | null): boolean {
  return kind === 'trial' || kind === 'intro'
}

function startOf(offer: Offer | null): string {
  if (offer === null) return 'Subscribe'
  if (offer.type === 1) return 'Start Introductory Offer'
  return offer.type === 3 ? 'Start Offer Code' : 'Start Promotional Offer'
}

function renewalOf(segment: Segment): string {
  const { follows, kind } = segment
  if (isIntroductory(follows) && kind === 'paid') return 'Paid Subscription from Introductory Offer'
  if (isIntroductory(follows) && isIntroductory(kind)) return 'Introductory Offer from Introductory Offer'
  return 'Renew'
}

const CANCELLATIONS: Record<number, readonly [string, string]> = {
  1: ['Cancel', 'Canceled'],
  2: ['Canceled from Billing Retry', 'Billing issue'],
  3: ['Cancel', 'Price increase'],
  4: ['Cancel', 'Removed from store'],
}

/** App Store Connect's name of an event; null if the report omits it. */
function eventOf({ kind, intent }: Entry, segment: Segment): string | null {
  const names: Partial<Record<Kind, () => string | null>> = {
    started: () => startOf(segment.offer),
    renewed: () => renewalOf(segment),
    recovered: () => (segment.follows === null ? 'Renewal from Billing Retry' : 'Renewals from Grace Period'),
    resubscribed: () => (segment.offer?.type === 2 ? 'Reactivation to Promotional Offer' : 'Reactivate'),
    upgraded: () => 'Upgrade',
    downgraded: () => 'Downgrade',
    crossgraded: () => 'Crossgrade',
    billing_failed: () =>
      isIntroductory(segment.kind)
        ? 'Billing Retry from Introductory Offer'
        : 'Billing Retry from Paid Subscription',
    expired: () => CANCELLATIONS[intent ?? 0]?.[0] ?? 'Canceled from Billing Retry',
    refund: () => 'Refund',
  }
  return names[kind]?.() ?? null
}

/** From one Pacific day to another. */
const daysBetween = (from: number, until: number): number =>
  Math.round((Date.parse(pacificDay(until)) - Date.parse(pacificDay(from))) / DAY)

/** How long a gap may be at most for what was paid before it to count. */
const DAYS_BETWEEN_PAID = 60

/** How many periods were paid for up to this one, without a long gap. Free ones do not count. */
function paidPeriods(books: Books, segment: Segment): number {
  const own = books.lineageOf(segment)
  let periods = 0
  let next = segment.from
  for (let at = own.indexOf(segment); at >= 0; at -= 1) {
    const one = own[at]
    if (one === undefined || next - endOfSegment(one) > DAYS_BETWEEN_PAID * DAY) break
    if (one.kind !== 'trial' && one.kind !== 'free_offer') periods += 1
    next = one.from
  }
  return periods
}

function rowOf(books: Books, entry: Entry, segment: Segment, event: string): Row {
  const { offer } = segment
  const expired_at = books.expiryBefore(entry)
  const cancelled = entry.kind === 'expired'
  return {
    'Event Date': pacificDay(entry.at),
    Event: event,
    ...planFacts(entry.bundle_id, segment.plan),
    'Subscription Offer Type': offer === null ? null : discountOf(offer),
    'Subscription Offer Duration': offerLengthOf(offer),
    'Preserved Pricing': segment.preserved ? 'Yes' : null,
    'Proceeds Reason': segment.after_a_year ? 'Rate After One Year' : null,
    'Subscription Offer Name': offerNameOf(offer),
    'Promotional Offer ID': offerNameOf(offer),
    'Consecutive Paid Periods': paidPeriods(books, segment),
    'Original Start Date': pacificDay(segment.started_at),
    Device: segment.device,
    Country: storefrontOf(entry.storefront).country,
    'Days Before Canceling': cancelled ? Math.max(0, Math.round((entry.at - segment.from) / DAY)) : null,
    'Days Canceled': expired_at === null ? null : daysBetween(expired_at, entry.at),
    'Cancellation Reason': cancelled ? (CANCELLATIONS[entry.intent ?? 0]?.[1] ?? 'Other') : null,
    Quantity: 1,
  }
}

/** A renewal that also changes the product is reported only as the change. */
function withoutDuplicates(entries: readonly Entry[]): Entry[] {
  const changed = new Set(
    entries.filter((e) => e.kind === 'downgraded' || e.kind === 'crossgraded').map((e) => e.transaction_id),
  )
  return entries.filter((e) => !(e.kind === 'renewed' && changed.has(e.transaction_id)))
}

/** The rows of those entries, all of one day; sandbox and family do not count. */
export function eventRows(books: Books, entries: readonly Entry[]): Row[] {
  const rows = withoutDuplicates(entries).flatMap((entry) => {
    const segment = books.segmentOf(entry.environment, entry.transaction_id)
    const event = segment === undefined ? null : eventOf(entry, segment)
    return segment === undefined || event === null ? [] : [rowOf(books, entry, segment, event)]
  })
  return groupRows(rows, ['Quantity'])
}
