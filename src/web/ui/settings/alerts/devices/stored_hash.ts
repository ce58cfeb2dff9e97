/** The hash of the push endpoint that this browser subscribed with last. */
import { useEffect, useState } from 'preact/hooks'

const STORAGE_KEY = 'push-endpoint'

const listeners = new Set<() => void>()
const notifyListeners = (): void => {
  for (const listener of listeners) listener()
}

/** null if this browser has no subscription. */
export const storedHash = (): string | null => localStorage.getItem(STORAGE_KEY)

/** The stored hash in a component, which is rendered again when this page changes the hash. */
export function useStoredHash(): string | null {
  const [hash, setHash] = useState(storedHash)
  useEffect(() => {
    const follow = (): void => setHash(storedHash())
    follow()
    listeners.add(follow)
    return () => {
      listeners.delete(follow)
    }
  }, [])
  return hash
}

export function storeHash(hash: string): void {
  localStorage.setItem(STORAGE_KEY, hash)
  notifyListeners()
}

export function removeHash(): void {
  localStorage.removeItem(STORAGE_KEY)
  notifyListeners()
}
