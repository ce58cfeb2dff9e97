/** Notifies open streams when a session, read token or share link ends. */

import { openHook } from '../hooks.ts'

export type Revocations = ReturnType<typeof openRevocations>

/** Opens the notifier. */
export function openRevocations() {
  const ended = openHook<[]>()

  return {
    /** Calls the listener whenever access was revoked, until the returned function is called. */
    watch: ended.add,
    /** Call this after the revocation was committed. */
    notify: (): void => void ended.call(),
  }
}
