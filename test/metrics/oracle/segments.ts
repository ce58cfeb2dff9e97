/**
 * The oracle’s timeline. Cuts time into pieces at every date in the facts. Each purchase, in order, takes the pieces
 * from its start on from all earlier ones, and holds its own until its end. The last holder of a piece has the
 * subscription then.
 */
import { nearestPeriod } from './arithmetic.ts'
import type { Bought, Info, Lineage } from './facts.ts'

export type Kind = 'trial' | 'free_offer' | 'intro' | 'offer' | 'paid'
export type Ending = 'voluntary' | 'billing' | 'refund' | 'other'

/** One transaction held the subscription in `[from, to)`. */
export type Stretch = { from: number; to: number; by: Bought; kind: Kind; ending: Ending }

const DAY = 86_400_000

/** A subscription that the customer pays for: no family sharing, no assigned seat. */
export const isSubscription = ({ kind, group_id }: Bought): boolean =>
  kind === 'Auto-Renewable Subscription' || (kind === null && group_id !== null)
export const isOwn = ({ ownership }: Bought): boolean => (ownership ?? 'PURCHASED') === 'PURCHASED'

export function kindOf({ offer_type, offer_discount }: Bought): Kind {
  const isFree = offer_discount === 'FREE_TRIAL'
  switch (offer_type) {
    case null:
      return 'paid'
    case 1:
      return isFree ? 'trial' : 'intro'
    default:
      return isFree ? 'free_offer' : 'offer'
  }
}

/** A renewal continues from the end of the previous paid time. Any other purchase replaces it immediately. */
export function isRenewalOf(next: Bought, before: Bought): boolean {
  if (before.is_upgraded === 1) return false
  return (next.reason ?? (next.product_id === before.product_id ? 'RENEWAL' : 'PURCHASE')) === 'RENEWAL'
}

/** The infos signed from a purchase to the next one. */
const signedIn = (one: Bought, next: Bought | undefined, infos: readonly Info[]): Info[] =>
  infos.filter(
    ({ signed_at }) => signed_at >= one.purchased_at && signed_at < (next?.purchased_at ?? Infinity),
  )

/** An info of a subscription that Apple neither retries nor has given up. */
const isSettled = ({ in_billing_retry, expiration_intent }: Info): boolean =>
  in_billing_retry !== 1 && expiration_intent === null

/**
 * A grace period extends the last purchase before its info was signed, unless the payment was that of this purchase: a
 * later info, signed before the purchase expires, says that it was collected.
 */
function graceOf(one: Bought, next: Bought | undefined, infos: readonly Info[]): number {
  const own = signedIn(one, next, infos)
  const ofNext = own.filter(
    (_, index) =>
      !own.some(
        (other, later) => later >= index && isSettled(other) && other.signed_at < (one.expires_at ?? 0),
      ),
  )
  return Math.max(0, ...ofNext.map(({ grace_until_at }) => grace_until_at ?? 0))
}

/**
 * `billing` if the last info that says whether Apple collects the payment says that it retries; an info with a reason for
 * the end does not say it. Otherwise the last reason that Apple sent: a renewal may be signed up to a day before its start,
 * a purchase may not.
 */
function endingOf(one: Bought, next: Bought | undefined, infos: readonly Info[]): Ending {
  let isFailing = false
  for (const info of signedIn(one, next, infos)) {
    if (info.in_billing_retry === 1) isFailing = true
    else if (isSettled(info)) isFailing = false
  }
  if (isFailing) return 'billing'
  const early = one.reason === 'PURCHASE' ? 0 : DAY
  const last = infos.findLast(
    ({ signed_at }) => signed_at >= one.purchased_at - early && signed_at < (next?.purchased_at ?? Infinity),
  )
  if (last === undefined) return 'other'
  if (last.expiration_intent === 2) return 'billing'
  if (last.expiration_intent === 1) return 'voluntary'
  return last.expiration_intent === null && last.auto_renew_status === 0 ? 'voluntary' : 'other'
}

export function stretchesOf({ bought, infos }: Pick<Lineage, 'bought' | 'infos'>): Stretch[] {
  const paid = bought.filter((one) => isSubscription(one) && isOwn(one))
  const cuts = cutsOf(paid, infos)
  const holders: (number | null)[] = cuts.map(() => null)
  for (const [index, one] of paid.entries()) {
    const from = takeOver(holders, cuts, paid, one)
    const expires = Math.max(one.expires_at ?? one.purchased_at, graceOf(one, paid[index + 1], infos))
    const to = Math.min(expires, one.revoked_at ?? Infinity)
    for (const [piece, at] of cuts.entries()) if (at >= from && at < to) holders[piece] = index
  }
  return paid.flatMap((by, index) => {
    const pieces = cuts.flatMap((at, piece) =>
      holders[piece] === index ? [[at, cuts[piece + 1] ?? at]] : [],
    )
    const [from, to] = [pieces[0]?.[0], pieces.at(-1)?.[1]]
    if (from === undefined || to === undefined) return []
    const ending = to === by.revoked_at ? 'refund' : endingOf(by, paid[index + 1], infos)
    return [{ from, to, by, kind: kindOf(by), ending }]
  })
}

function cutsOf(paid: readonly Bought[], infos: readonly Info[]): number[] {
  const dates = [
    ...paid.flatMap(({ purchased_at, expires_at, revoked_at }) => [purchased_at, expires_at, revoked_at]),
    ...infos.map(({ grace_until_at }) => grace_until_at),
  ]
  return [...new Set(dates.filter((at) => at !== null))].sort((a, b) => a - b)
}

/**
 * Takes the pieces from the start of `one` from the previous holder, and from earlier ones where nothing is left of
 * that; returns the start.
 */
function takeOver(
  holders: (number | null)[],
  cuts: readonly number[],
  paid: readonly Bought[],
  one: Bought,
): number {
  let from = one.purchased_at
  for (;;) {
    const last = Math.max(-1, ...holders.map((holder) => holder ?? -1))
    const before = paid[last]
    if (before === undefined) return from
    if (isRenewalOf(one, before)) from = Math.max(from, paidUntil(before))
    for (const [piece, at] of cuts.entries()) {
      if (at >= from && holders[piece] === last) holders[piece] = null
    }
    if (holders.includes(last)) return from
  }
}

const paidUntil = ({ expires_at, purchased_at, revoked_at }: Bought): number =>
  Math.min(expires_at ?? purchased_at, revoked_at ?? Infinity)

/** The period that one price covers. `declared`: the product’s period, where known. */
export function periodOf(one: Bought, environment: string, declared: string | undefined): string | null {
  if (one.offer_discount === 'PAY_UP_FRONT' && one.offer_period !== null) return one.offer_period
  if (one.billing_plan === 'MONTHLY') return 'P1M'
  if (declared !== undefined || environment !== 'production' || one.earliest_expires_at === null)
    return declared ?? null
  return nearestPeriod((one.earliest_expires_at - one.purchased_at) / DAY)
}
