/**
 * The books of the simulated company: every action of its customers, recorded when it happens. Tests compare the
 * product's figures with the books, so the books use none of the product's calculations.
 */
import type { Environment } from '../../apple/payloads.ts'
import type { Offer, Plan } from './products.ts'
import { openReportLines } from './report_lines.ts'

/** The kind of an entry. `proration`: Apple refunds the unused time at an upgrade, without a notification. */
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
 * One event. It takes effect at `at`. Amounts are thousandths of `currency`. `has_price`: Apple's signed transaction
 * contains the price. Very old transactions do not; only their `charge` entry has the price. `person` is the id of the
 * simulated customer. A `trial_converted` entry has the transaction id of the trial, and all other fields of the first
 * paid transaction.
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
  /** The reason for an expiry: Apple's `expirationIntent`. */
  intent: number | null
}

/** The period of access that one transaction of a subscription gives. Times are milliseconds since the epoch. */
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
  /** The expiry date, or the end of the billing grace period. */
  expires: number
  /** The expiry date, without a grace period. */
  paid_until: number
  /** The start and end of billing retry without access; null if it has not started or not ended. */
  retry_from: number | null
  retry_until: number | null
  plan: Plan
  offer: Offer | null
  /** The kind of the segment that ended when this segment began; null if there was a gap. */
  follows: Segment['kind'] | null
  proceeds_milli: number
  after_a_year: boolean
  preserved: boolean
  device: string
  /** The start of the lineage. */
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

/** `numerator ÷ denominator`, rounded to a whole number, half to even. */
export function halfEven(numerator: bigint, denominator: bigint): number {
  const whole = numerator / denominator
  const twice = (numerator % denominator) * 2n
  const roundsUp = twice > denominator || (twice === denominator && whole % 2n === 1n)
  return Number(roundsUp ? whole + 1n : whole)
}

type Claim = Pick<Link, 'at' | 'bundle_id' | 'store' | 'transaction_id' | 'app_user_id'> & {
  proof: string | null
}

/**
 * The link after a call. The last call sets the user. Only a call with a proof sets the proved user. The proofs belong
 * to the proved user and are dropped when the proved user changes.
 */
function applyClaim(before: Link | undefined, claim: Claim): Link {
  const { proof, ...link } = claim
  const isSameUser = before?.proved_app_user_id === claim.app_user_id
  const keptProofs = isSameUser ? (before?.proofs ?? []) : []
  const proved = proof === null ? (before?.proved_app_user_id ?? null) : claim.app_user_id
  const proofs = proof === null ? (before?.proofs ?? []) : [...new Set([...keptProofs, proof])]
  const verified = proved === claim.app_user_id && proofs.includes('purchase')
  const moved = before !== undefined && before.app_user_id !== claim.app_user_id
  return { ...link, proved_app_user_id: proved, proofs, verified, moved }
}

function openLinks() {
  const links: Link[] = []
  const linkByKey = new Map<string, Link>()
  const keyOf = (bundle_id: string, store: string, id: string) => `${bundle_id} ${store} ${id}`
  return {
    links,
    claim(claim: Claim): Link {
      const key = keyOf(claim.bundle_id, claim.store, claim.transaction_id)
      const link = applyClaim(linkByKey.get(key), claim)
      linkByKey.set(key, link)
      links.push(link)
      return link
    },
    /** The current user of a transaction. */
    linkOf: (bundle_id: string, transaction_id: string, store: Link['store'] = 'apple') =>
      linkByKey.get(keyOf(bundle_id, store, transaction_id)) ?? null,
  }
}

function openUsers() {
  const users = new Map<string, User>()
  return {
    users,
    /** Device fields replace the earlier ones. Attributes are merged key by key. */
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

/** Tracks when subscriptions expire, because the report of a resubscription contains the days since the expiry. */
function openExpiryTracker() {
  const expiryByLineage = new Map<string, number>()
  const expiryByEntry = new Map<Entry, number>()
  return {
    trackExpiry(entry: Entry): void {
      const { kind, at, environment, original_transaction_id } = entry
      const key = `${environment} ${original_transaction_id}`
      if (kind === 'expired') expiryByLineage.set(key, at)
      if (kind !== 'resubscribed') return
      const end = expiryByLineage.get(key)
      if (end !== undefined) expiryByEntry.set(entry, end)
      expiryByLineage.delete(key)
    },
    /** When a subscription expired before its `resubscribed` entry; null if it had not expired or for other kinds. */
    expiryBefore: (entry: Entry): number | null => expiryByEntry.get(entry) ?? null,
  }
}

/** Opens empty books. They are complete up to the current time of the simulation. */
export function openBooks() {
  const { trackExpiry, expiryBefore } = openExpiryTracker()
  const entries: Entry[] = []
  const segments: Segment[] = []
  const segmentByTransaction = new Map<string, Segment>()
  const segmentsByLineage = new Map<string, Segment[]>()

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
      segmentByTransaction.set(`${segment.environment} ${segment.transaction_id}`, segment)
      const lineage = `${segment.environment} ${segment.original_transaction_id}`
      const lineageSegments = segmentsByLineage.get(lineage)
      if (lineageSegments === undefined) segmentsByLineage.set(lineage, [segment])
      else lineageSegments.push(segment)
    },
    /** All segments of the lineage of a segment, in the order of their purchases. */
    lineageOf: ({ environment, original_transaction_id }: Segment): readonly Segment[] =>
      segmentsByLineage.get(`${environment} ${original_transaction_id}`) ?? [],
    segmentOf: (environment: Environment, transaction_id: string) =>
      segmentByTransaction.get(`${environment} ${transaction_id}`),
    /** Thousandths charged, by currency, at the purchase dates. */
    charged: (range: Range = {}) => sum({ charge: (e) => e.price_milli }, range),
    /** Thousandths refunded, less reversed refunds, by currency. Each counts at its own instant. */
    refunded: (range: Range = {}) =>
      sum({ refund: (e) => e.refunded_milli, refund_reversed: (e) => -e.refunded_milli }, range),
    /** Thousandths refunded for the unused time at upgrades, by currency. */
    prorated: (range: Range = {}) => sum({ proration: (e) => e.refunded_milli }, range),
    /** The paid segments that are active at that instant. */
    activeSubscriptions: (at: number, environment: Environment = 'production') =>
      activeAt(at, ['intro', 'offer', 'paid'], environment),
    activeTrials: (at: number, environment: Environment = 'production') =>
      activeAt(at, ['trial'], environment),
  }
}
