/** Classifies Apple's Product Type Identifiers. */

/**
 * `app` a first download (the only ones that count as downloads), `redownload`, `update`, `bundle` of apps, `in_app`
 * a one-time purchase (non-renewing subscriptions too), `subscription` auto-renewable, `unknown` an unknown type.
 */
export type ProductClass = 'app' | 'redownload' | 'update' | 'bundle' | 'in_app' | 'subscription' | 'unknown'

const CLASSES: readonly (readonly [RegExp, ProductClass])[] = [
  [/^(1|F1)-B/, 'bundle'],
  [/^(IAY|FIAY|IAC)/, 'subscription'],
  [/^(IA|FI)/, 'in_app'],
  [/^F?1/, 'app'],
  [/^F?3/, 'redownload'],
  [/^F?7/, 'update'],
]

/** The class of a type, by its beginning, so that new variants (`IAY-M`, `1EP`) are classified correctly. */
export const productClassOf = (product_type: string): ProductClass =>
  CLASSES.find(([beginning]) => beginning.test(product_type))?.[1] ?? 'unknown'

/** Whether rows of this class concern purchases within an app, whose SKU is then their Parent Identifier. */
export const isWithinApp = (type: ProductClass): boolean => type === 'in_app' || type === 'subscription'
