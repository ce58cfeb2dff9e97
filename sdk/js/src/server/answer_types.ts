/** Answers of the API. Generated from the OpenAPI document by `node tools/sdk/write.ts`. */

/** The answer of `identify`. */
export interface Identified {
  appUserId: string
  bundleId: string
  verification: 'verified' | 'unverified'
}

/** The answer of `attribute`. */
export interface Attributed {
  originalTransactionId: string
  appUserId: string
  /** true if the purchase was linked to another user before */
  moved: boolean
  verification: 'verified' | 'unverified'
}

/** A subscription or a non-consumable of a user. */
export interface AccessProduct {
  product_id: string
  has_access: boolean
  /** When access ends or ended: the expiry or the end of the grace period */
  access_until: number | null
  /** retry: Apple retries the charge, without access. A non-consumable is active or revoked */
  state: 'trial' | 'active' | 'grace' | 'retry' | 'expired' | 'revoked'
  environment: 'production' | 'sandbox'
  original_transaction_id: string
  /** Whether Apple’s signature proved that the purchase belongs to the user */
  verification: 'verified' | 'unverified'
}

/** What a user has access to. */
export interface Access {
  /** Whether any product gives access */
  has_access: boolean
  /** The latest end; null if the user never bought, or has access without a known end */
  access_until: number | null
  /** The subscriptions and non-consumables of the user, the last linked first */
  products: AccessProduct[]
}

/** A row that was not imported. */
export interface ImportFault {
  /** The index in `links`, from 0 */
  row: number
  /** invalid_request, unknown_app or forgotten */
  code: string
  message: string
}

/** What an import of links did. */
export interface ImportOutcome {
  dry_run: boolean
  /** Purchases that belonged to no user */
  linked: number
  /** Purchases that belonged to another user */
  moved: number
  /** Purchases that belonged to this user */
  unchanged: number
  /** Rows in `faults` */
  refused: number
  faults: ImportFault[]
}
