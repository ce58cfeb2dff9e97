/** Types of the profile response; they refine parts that the API schema leaves open. */
import type { InferOutput } from 'valibot'
import type { ProfileAnswer } from '../../../../api/customers/answers.ts'
import type { RefundReason } from '../../../../metrics/refunds/refund_rows.ts'

/** Instants in milliseconds, money in thousandths. */
export type Subscription = {
  state: 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'
  product_id: string | null
  ownership: string | null
  price_milli: number | null
  currency: string | null
  started_at: number | null
  expires_at: number | null
  committed_until_at: number | null
  grace_until_at: number | null
  auto_renew: boolean | null
  next_product_id: string | null
  renewal_price_milli: number | null
  expiration_intent: number | null
  revoked_at: number | null
}
export type Segment = {
  transaction_id: string
  product_id: string
  kind: 'trial' | 'free_offer' | 'intro' | 'offer' | 'paid'
  from: number
  to: number
  price_milli: number | null
  currency: string | null
  ending: 'voluntary' | 'billing' | 'refund' | 'other'
}
type RefundedAmount = { at: number; milli: number; base_milli: number | null }
export type Transaction = {
  transaction_id: string
  original_transaction_id: string
  product_id: string
  kind: string | null
  reason: string | null
  ownership: string | null
  quantity: number | null
  country: string | null
  purchased_at: number
  expires_at: number | null
  revoked_at: number | null
  is_upgraded: boolean
  offer_type: number | null
  offer_id: string | null
  offer_discount: string | null
  price_milli: number | null
  currency: string | null
  base_milli: number | null
  refunded: (RefundedAmount & { reason: RefundReason }) | null
  prorated: RefundedAmount | null
  proceeds: { base_milli: number; basis: 'exact' | 'ratio' | 'estimated' } | null
}
export type Lineage = {
  id: string
  original_transaction_id: string
  subscription: Subscription | null
  timeline: Segment[]
}
type ProfileData = InferOutput<typeof ProfileAnswer>
export type Profile = Omit<ProfileData, 'lineages' | 'transactions' | 'events'> & {
  lineages: Lineage[]
  transactions: Transaction[]
}
export type User = ProfileData['users'][number]
export type Link = ProfileData['links'][number]
export type Move = ProfileData['link_history'][number]
