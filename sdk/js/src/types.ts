/** The types of the public API. */

/** A value of an attribute. `null` is a value too: it replaces what was stored. */
export type AttributeValue = string | number | boolean | null
export type Attributes = Record<string, AttributeValue | undefined>

/** A place for the queue: AsyncStorage fits as it is. */
export type Storage = {
  getItem(key: string): Promise<string | null | undefined> | string | null | undefined
  setItem(key: string, value: string): unknown
  removeItem(key: string): unknown
  getAllKeys(): Promise<readonly string[]> | readonly string[]
}

export type Options = {
  /** The address of your Windfall, such as `https://windfall.example.com`. */
  url: string
  /** A publishable key, `pk_live_…`. Without one, calls carry no credential. */
  key?: string | undefined
  /** The bundle id, or the application id on Android. Found by expo-application if absent. */
  bundleId?: string | undefined
  /** Where the queue is kept; AsyncStorage or localStorage if absent, memory if there is neither. */
  storage?: Storage | undefined
  /** These four describe the device; what is absent is found where the runtime has it. */
  platform?: string | undefined
  osVersion?: string | undefined
  deviceModel?: string | undefined
  locale?: string | undefined
  /** Writes what the SDK does to the console, or to a function of yours. */
  debug?: boolean | ((line: string) => void) | undefined
  /** Reports purchases of react-native-iap and expo-iap by itself; true by default. */
  autoTrack?: boolean | undefined
}

/**
 * A purchase: the two ids, or an object of a purchase library as it is. Names of fields of react-native-iap, expo-iap,
 * cordova-plugin-purchase and @capgo/native-purchases are known.
 */
export type Purchase = {
  /** Apple's original transaction id. */
  originalTransactionId?: string | number | null | undefined
  productId?: string | null | undefined
  /** Google Play's purchase token; the signed transaction in newer purchase libraries on iOS. */
  purchaseToken?: string | null | undefined
  /** StoreKit's signed transaction (`jwsRepresentation`), which proves the purchase. */
  jws?: string | null | undefined
}

/** A purchase that will not be sent again. `code` says why. */
export type RefusedPurchase = {
  code: string
  appUserId: string
  originalTransactionId: string
  productId?: string
  /** When it was refused, in milliseconds since 1970. */
  at: number
}

export type DebugState = {
  configured: boolean
  /** The id that calls are made under now: yours, or the anonymous one. */
  appUserId: string | null
  anonymousId: string | null
  /** What waits to be sent, in order. */
  queue: { call: 'identify' | 'attribute'; appUserId: string; at: number; originalTransactionId?: string }[]
  /** Purchases that were refused for good in the last 30 days. */
  refused: RefusedPurchase[]
  /** `failing`: a write was refused; what could not be stored is in memory. */
  storage: 'ok' | 'failing' | 'memory'
  /** The last answer, such as `200`, `403 app_not_in_organization` or `no connection`. */
  lastAnswer: string | null
}
