/** What we remember: who wants to know at once that somebody's access has ended, as an open stream does. */

import { openHook } from '../hooks.ts'

export type Revocations = ReturnType<typeof openRevocations>

export function openRevocations() {
  const ended = openHook<[]>()

  return {
    /** Calls the listener whenever access of somebody has ended, until the returned function is called. */
    watch: ended.add,
    /** To be called once it is on disk. */
    notify: (): void => void ended.call(),
  }
}
