/** Classifies Apple's Product Type Identifiers. */

/**
 * `app`: a first download; only first downloads count as downloads. `bundle`: a bundle of apps. `in_app`: a one-time
 * purchase, including non-renewing subscriptions. `subscription`: an auto-renewable subscription.
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

/** The class of a type. Its beginning determines the class, so new variants (`IAY-M`, `1EP`) have the right class. */
export const productClassOf = (product_type: string): ProductClass =>
  CLASSES.find(([beginning]) => beginning.test(product_type))?.[1] ?? 'unknown'

/** Whether rows of this class are purchases within an app. Their Parent Identifier is the SKU of that app. */
export const isWithinApp = (type: ProductClass): boolean => type === 'in_app' || type === 'subscription'
