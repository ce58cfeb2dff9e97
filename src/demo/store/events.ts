/** The SUBSCRIPTION_EVENT report of a day. */
import type { Books, Entry, Kind, Segment } from '../world/books.ts'
import { endOfSegment } from '../world/books.ts'
import { pacificDay } from '../world/pacific.ts'
import { DAY_MS } from '../world/periods.ts'
import type { Offer } from '../world/products.ts'
import { storefrontOf } from '../world/storefronts.ts'
import { planColumns } from './plans.ts'
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

function startEventOf(offer: Offer | null): string {
  if (offer === null) return 'Subscribe'
  if (offer.type === 1) return 'Start Introductory Offer'
  return offer.type === 3 ? 'Start Offer Code' : 'Start Promotional Offer'
}

function renewalEventOf(segment: Segment): string {
  const { follows, kind } = segment
  if (isIntroductory(follows) && kind === 'paid') return 'Paid Subscription from Introductory Offer'
  if (isIntroductory(follows) && isIntroductory(kind)) return 'Introductory Offer from Introductory Offer'
  return 'Renew'
}

const changeEventOf = (event: string, { follows }: Segment): string =>
  isIntroductory(follows) ? `${event} from Introductory Offer` : event

const CANCELLATIONS: Record<number, readonly [string, string]> = {
  1: ['Cancel', 'Canceled'],
  2: ['Canceled from Billing Retry', 'Billing issue'],
  3: ['Cancel', 'Price increase'],
  4: ['Cancel', 'Removed from store'],
}

/** App Store Connect's name of an event; null if the report omits it. */
function eventOf({ kind, intent }: Entry, segment: Segment): string | null {
  const eventByKind: Partial<Record<Kind, () => string | null>> = {
    started: () => startEventOf(segment.offer),
    renewed: () => renewalEventOf(segment),
    recovered: () => (segment.follows === null ? 'Renewal from Billing Retry' : 'Renewals from Grace Period'),
    resubscribed: () => (segment.offer?.type === 2 ? 'Reactivation to Promotional Offer' : 'Reactivate'),
    upgraded: () => changeEventOf('Upgrade', segment),
    downgraded: () => changeEventOf('Downgrade', segment),
    crossgraded: () => changeEventOf('Crossgrade', segment),
    billing_failed: () =>
      isIntroductory(segment.kind)
        ? 'Billing Retry from Introductory Offer'
        : 'Billing Retry from Paid Subscription',
    expired: () => CANCELLATIONS[intent ?? 0]?.[0] ?? 'Canceled from Billing Retry',
    refund: () => 'Refund',
  }
  return eventByKind[kind]?.() ?? null
}

/** The number of days between the Pacific days of two instants. */
const daysBetween = (from: number, until: number): number =>
  Math.round((Date.parse(pacificDay(until)) - Date.parse(pacificDay(from))) / DAY_MS)

/** The longest gap in days across which paid periods count as consecutive. */
const MAX_GAP_DAYS = 60

/** This segment and those before it without a long gap, the newest first. */
function consecutiveSegments(books: Books, segment: Segment): Segment[] {
  const lineage = books.lineageOf(segment)
  const segments: Segment[] = []
  let next_from = segment.from
  for (let at = lineage.indexOf(segment); at >= 0; at -= 1) {
    const earlier = lineage[at]
    if (earlier === undefined || next_from - endOfSegment(earlier) > MAX_GAP_DAYS * DAY_MS) break
    segments.push(earlier)
    next_from = earlier.from
  }
  return segments
}

function rowOf(books: Books, entry: Entry, segment: Segment, event: string): Row {
  const segments = consecutiveSegments(books, segment)
  // A paid introductory offer is named in later rows too, a free trial is not.
  const offer = segment.offer ?? segments.find(({ kind }) => kind === 'intro')?.offer ?? null
  const expired_at = books.expiryBefore(entry)
  const isExpiry = entry.kind === 'expired'
  return {
    'Event Date': pacificDay(entry.at),
    Event: event,
    ...planColumns(entry.bundle_id, segment.plan),
    'Subscription Offer Type': offer === null ? null : discountOf(offer),
    'Subscription Offer Duration': offerLengthOf(offer),
    'Preserved Pricing': segment.preserved ? 'Yes' : null,
    'Proceeds Reason': segment.after_a_year ? 'Rate After One Year' : null,
    'Subscription Offer Name': offerNameOf(offer),
    'Promotional Offer ID': offerNameOf(offer),
    // Periods of offers do not count, whether they are paid or free.
    'Consecutive Paid Periods': segments.filter(({ kind }) => kind === 'paid').length,
    'Original Start Date': pacificDay(segment.started_at),
    Device: segment.device,
    Country: storefrontOf(entry.storefront).country,
    'Days Before Canceling': isExpiry ? Math.max(0, Math.round((entry.at - segment.from) / DAY_MS)) : null,
    'Days Canceled': expired_at === null ? null : daysBetween(expired_at, entry.at),
    'Cancellation Reason': isExpiry ? (CANCELLATIONS[entry.intent ?? 0]?.[1] ?? 'Other') : null,
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

/** The report rows of the entries of one day. The caller excludes the sandbox and Family Sharing. */
export function eventRows(books: Books, entries: readonly Entry[]): Row[] {
  const rows = withoutDuplicates(entries).flatMap((entry) => {
    const segment = books.segmentOf(entry.environment, entry.transaction_id)
    const event = segment === undefined ? null : eventOf(entry, segment)
    return segment === undefined || event === null ? [] : [rowOf(books, entry, segment, event)]
  })
  return groupRows(rows, ['Quantity'])
}
