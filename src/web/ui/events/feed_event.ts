/** Types of a feed event. All fields of its snapshot are optional. */
import type { InferOutput } from 'valibot'
import type { EventUser, FeedEventAnswer } from '../../../api/event_answers.ts'

/** Instants in milliseconds, money in thousandths. */
type Snapshot = {
  bundle_id?: string
  product_id?: string | null
  country?: string | null
  money?: { price_milli: number; refunded_milli?: number; currency: string | null } | null
  transaction?: {
    transaction_id?: string
    kind?: string
    ownership?: string
    quantity?: number
    expires_at?: number
    offer_type?: number
    offer_discount?: string
    offer_period?: string
  }
  notification?: { type?: string; subtype?: string; problem?: string; consumption_request_reason?: string }
  subscription?: {
    state?: string
    product_id?: string
    auto_renew?: boolean
    expires_at?: number
    grace_until_at?: number
    next_product_id?: string
    renewal_price_milli?: number
    currency?: string | null
    expiration_intent?: number
  } | null
  /** The user and the label at the time of the event. */
  user?: {
    /** Null if this user was erased, and another one is proved. */
    app_user_id: string | null
    verification: 'verified' | 'unverified'
    proofs?: InferOutput<typeof EventUser>['proofs']
    unattested?: string
  } | null
  from_app_user_id?: string
  merged_customer_id?: string
  notifications?: number
  rows?: number
  endpoint?: { name: string | null }
  count?: number
}

export type FeedEvent = Omit<InferOutput<typeof FeedEventAnswer>, 'data'> & { data: Snapshot }
export type FeedPage = { events: FeedEvent[]; next: number | null }
