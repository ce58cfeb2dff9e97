/** The package in browsers, Capacitor, Node and other runtimes. */
import { openApi } from './api.ts'
import type { Attributes, DebugState, Options, Purchase } from './types.ts'

const api = openApi({
  storage() {
    // In Node `localStorage` is no browser's.
    const web = typeof window === 'undefined' ? null : window.localStorage
    // A web view of Android can be set to have none.
    if (!web) return null
    return {
      getItem: (key) => web.getItem(key),
      setItem: (key, value) => web.setItem(key, value),
      removeItem: (key) => web.removeItem(key),
      getAllKeys: () => Object.keys(web),
    }
  },
  device: () =>
    typeof navigator === 'undefined' || typeof window === 'undefined'
      ? {}
      : { platform: 'web', locale: navigator.language },
  bundleId: () => undefined,
  watch(wake) {
    if (typeof window === 'undefined') return
    window.addEventListener('online', wake)
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') wake()
    })
  },
  libraries: [],
})

/** Sets the SDK up; call it once at the start of the app. Calls before it wait in memory. A second call changes the options. */
export function configure(options: Options): void {
  api.configure(options)
}

/** Says who the user is. What was reported anonymously since the last `reset` is reported again for this user. */
export function identify(userId: string, attributes?: Attributes): void {
  api.identify(userId, attributes)
}

/** Sets attributes of the user, or of the anonymous id. Other attributes stay. */
export function setAttributes(attributes: Attributes): void {
  api.setAttributes(attributes)
}

/** At logout: a new anonymous id. What is queued for the user is still sent. */
export function reset(): void {
  api.reset()
}

/** Reports a purchase for the user, or for the anonymous id: the two ids, or an object of a purchase library. */
export function attributePurchase(purchase: Purchase): void {
  api.attributePurchase(purchase)
}

/** Tries to send now. Resolves when all that can be sent was sent; never rejects. */
export function flush(): Promise<void> {
  return api.flush()
}

/** What the SDK knows, for a debug screen. */
export function debugState(): Promise<DebugState> {
  return api.debugState()
}

export type {
  Attributes,
  AttributeValue,
  DebugState,
  Options,
  Purchase,
  RefusedPurchase,
  Storage,
} from './types.ts'
