/** The hash of the push endpoint that this browser subscribed with last. */

const STORAGE_KEY = 'push-endpoint'

/** null if this browser has no subscription. */
export const storedHash = (): string | null => localStorage.getItem(STORAGE_KEY)

export const storeHash = (hash: string): void => localStorage.setItem(STORAGE_KEY, hash)

export const removeHash = (): void => localStorage.removeItem(STORAGE_KEY)
