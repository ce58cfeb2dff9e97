/**
 * The books of the simulated company: what its customers did, recorded when they did it. Tests compare the product's
 * figures with these books, so they use none of the product's calculations.
 */
import type { Environment } from '../../apple/payloads.ts'
import type { Offer, Plan } from './products.ts'
import { openReportLines } from './report_lines.ts'

/** What happened. `proration` is the unused part that Apple gives back at an upgrade, without a notification. */
export type Kind =
  | 'charge'
  | 'refund'
  | 'refund_reversed'
  | 'refund_declined'
  | 'proration'
  | 'purchased'
  | 'started'
  | 'shared'
  | 'renewed'
  | 'recovered'
  | 'resubscribed'
  | 'trial_started'
  | 'trial_converted'
  | 'trial_expired'
  | 'renewal_disabled'
  | 'renewal_enabled'
  | 'upgraded'
  | 'crossgraded'
  | 'downgraded'
  | 'downgrade_chosen'
  | 'downgrade_cancelled'
  | 'offer_redeemed'
  | 'billing_failed'
  | 'grace_started'
  | 'grace_ended'
  | 'expired'
  | 'revoked'
  | 'extended'
  | 'price_increase_asked'
  | 'price_increase_accepted'
  | 'consumption_requested'

/**
 * `at` is when it takes effect; money in thousandths of `currency`. `told`: Apple's signed transaction names the
 * price (very old ones do not; the `charge` alone knows it then). `person` is who did it, whatever their ids. A
 * `trial_converted` carries the trial's transaction id, and all else of the first transaction that was paid for.
 */
export type Entry = {
  at: number
  bundle_id: string
  environment: Environment
  kind: Kind
  person: string
  original_transaction_id: string
  transaction_id: string
  product_id: string
  period: string | null
  storefront: string
  currency: string
  price_milli: number
  refunded_milli: number
  has_price: boolean
  /** Family Sharing: without a payment. */
  shared: boolean
  /** Why it expired, Apple's number. */
  intent: number | null
}

/** The entitlement of one transaction of a subscription, and its end. */
export type Segment = {
  bundle_id: string
  environment: Environment
  person: string
  original_transaction_id: string
  transaction_id: string
  product_id: string
  kind: 'trial' | 'free_offer' | 'intro' | 'offer' | 'paid'
  shared: boolean
  period: string
  storefront: string
  currency: string
  price_milli: number
  has_price: boolean
  from: number
  /** The expiry, or the end of a billing grace. */
  expires: number
  /** The expiry alone. */
  paid_until: number
  /** While the store tried to collect, without access. */
  retry_from: number | null
  retry_until: number | null
  plan: Plan
  offer: Offer | null
  /** What came before it without a gap. */
  follows: Segment['kind'] | null
  proceeds_milli: number
  after_a_year: boolean
  preserved: boolean
  device: string
  /** When the lineage began. */
  started_at: number
  revoked_at: number | null
  replaced_at: number | null
}

type Link = {
  at: number
  bundle_id: string
  store: 'apple' | 'google'
  transaction_id: string
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string[]
  verified: boolean
  moved: boolean
}

type User = { bundle_id: string; app_user_id: string; fields: Record<string, unknown> }

export type Books = ReturnType<typeof openBooks>

/** When a segment ends: at its revocation, when another replaces it, or when it runs out. */
export function endOfSegment(segment: Segment): number {
  return Math.min(segment.expires, segment.revoked_at ?? Infinity, segment.replaced_at ?? Infinity)
}

/** `numerator ÷ denominator` in whole numbers, half to even. */
export function halfEven(numerator: bigint, denominator: bigint): number {
  const whole = numerator / denominator
  const twice = (numerator % denominator) * 2n
  const up = twice > denominator || (twice === denominator && whole % 2n === 1n)
  return Number(up ? whole + 1n : whole)
}

type Claim = Pick<Link, 'at' | 'bundle_id' | 'store' | 'transaction_id' | 'app_user_id'> & {
  proof: string | null
}

/** The last call names the user; only a call with a proof names the proved one, and proofs last as long as it does. */
function applyClaim(before: Link | undefined, claim: Claim): Link {
  const { proof, ...link } = claim
  const same = before?.proved_app_user_id === claim.app_user_id
  const retained = same ? (before?.proofs ?? []) : []
  const proved = proof === null ? (before?.proved_app_user_id ?? null) : claim.app_user_id
  const proofs = proof === null ? (before?.proofs ?? []) : [...new Set([...retained, proof])]
  const verified = proved === claim.app_user_id && proofs.includes('purchase')
  const moved = before !== undefined && before.app_user_id !== claim.app_user_id
  return { ...link, proved_app_user_id: proved, proofs, verified, moved }
}

function openLinks() {
  const links: Link[] = []
  const newest = new Map<string, Link>()
  const keyOf = (bundle_id: string, store: string, id: string) => `${bundle_id} ${store} ${id}`
  return {
    links,
    claim(claim: Claim): Link {
      const key = keyOf(claim.bundle_id, claim.store, claim.transaction_id)
      const link = applyClaim(newest.get(key), claim)
      newest.set(key, link)
      links.push(link)
      return link
    },
    /** The current user of a transaction. */
    linkOf: (bundle_id: string, transaction_id: string, store: Link['store'] = 'apple') =>
      newest.get(keyOf(bundle_id, store, transaction_id)) ?? null,
  }
}

function openUsers() {
  const users = new Map<string, User>()
  return {
    users,
    /** Device fields replace, attributes merge key by key. */
    identify(bundle_id: string, app_user_id: string, fields: Record<string, unknown>, attributes: object) {
      const key = `${bundle_id} ${app_user_id}`
      const before = users.get(key)?.fields ?? {}
      const merged = { ...(before.attributes ?? {}), ...attributes }
      users.set(key, { bundle_id, app_user_id, fields: { ...before, ...fields, attributes: merged } })
    },
  }
}

type Range = {
  from?: number
  until?: number
  environment?: Environment
  bundle_id?: string
  has_price?: boolean
}

function isInRange(entry: Entry, range: Range): boolean {
  return (
    entry.at >= (range.from ?? -Infinity) &&
    entry.at < (range.until ?? Infinity) &&
    entry.environment === (range.environment ?? 'production') &&
    (range.bundle_id === undefined || entry.bundle_id === range.bundle_id) &&
    (range.has_price === undefined || entry.has_price === range.has_price)
  )
}

/** The subscriptions that have ended, so a resubscription can report when. */
function openExpiryTracker() {
  const ends = new Map<string, number>()
  const before = new Map<Entry, number>()
  return {
    trackExpiry(entry: Entry): void {
      const { kind, at, environment, original_transaction_id } = entry
      const key = `${environment} ${original_transaction_id}`
      if (kind === 'expired') ends.set(key, at)
      if (kind !== 'resubscribed') return
      const end = ends.get(key)
      if (end !== undefined) before.set(entry, end)
      ends.delete(key)
    },
    /** When the subscription that an entry says came back had expired; null where it was taken back otherwise. */
    expiryBefore: (entry: Entry): number | null => before.get(entry) ?? null,
  }
}

/** Empty books. They grow as the simulation is played, and are complete up to where it stands. */
export function openBooks() {
  const { trackExpiry, expiryBefore } = openExpiryTracker()
  const entries: Entry[] = []
  const segments: Segment[] = []
  const byTransaction = new Map<string, Segment>()
  const byLineage = new Map<string, Segment[]>()

  function sum(kinds: Partial<Record<Kind, (entry: Entry) => number>>, range: Range): Record<string, number> {
    const totals: Record<string, number> = {}
    for (const entry of entries) {
      const amount = kinds[entry.kind]
      if (amount === undefined || !isInRange(entry, range)) continue
      totals[entry.currency] = (totals[entry.currency] ?? 0) + amount(entry)
    }
    return totals
  }

  function activeAt(at: number, kinds: readonly Segment['kind'][], environment: Environment): Segment[] {
    return segments.filter(
      (s) =>
        s.environment === environment &&
        !s.shared &&
        s.from <= at &&
        at < endOfSegment(s) &&
        kinds.includes(s.kind),
    )
  }

  return {
    entries,
    segments,
    ...openLinks(),
    ...openUsers(),
    ...openReportLines(),
    write(entry: Entry): void {
      entries.push(entry)
      trackExpiry(entry)
    },
    expiryBefore,
    openSegment(segment: Segment) {
      segments.push(segment)
      byTransaction.set(`${segment.environment} ${segment.transaction_id}`, segment)
      const lineage = `${segment.environment} ${segment.original_transaction_id}`
      const own = byLineage.get(lineage)
      if (own === undefined) byLineage.set(lineage, [segment])
      else own.push(segment)
    },
    /** All segments of a segment's subscription, in the order in which they were bought. */
    lineageOf: ({ environment, original_transaction_id }: Segment): readonly Segment[] =>
      byLineage.get(`${environment} ${original_transaction_id}`) ?? [],
    segmentOf: (environment: Environment, transaction_id: string) =>
      byTransaction.get(`${environment} ${transaction_id}`),
    /** Thousandths charged, by currency, at the purchase dates. */
    charged: (range: Range = {}) => sum({ charge: (e) => e.price_milli }, range),
    /** Thousandths given back by refunds less those taken again, by currency, each on its own day. */
    refunded: (range: Range = {}) =>
      sum({ refund: (e) => e.refunded_milli, refund_reversed: (e) => -e.refunded_milli }, range),
    /** Thousandths given back at upgrades for the unused part, by currency. */
    prorated: (range: Range = {}) => sum({ proration: (e) => e.refunded_milli }, range),
    /** The paid segments that are active at that instant. */
    activeSubscriptions: (at: number, environment: Environment = 'production') =>
      activeAt(at, ['intro', 'offer', 'paid'], environment),
    activeTrials: (at: number, environment: Environment = 'production') =>
      activeAt(at, ['trial'], environment),
  }
}
