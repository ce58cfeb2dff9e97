/** Gets what the tests of an SDK need. */

/** Makes what is not there, in two tries. Returns why it is still not there, or null. */
export function faultOf(isThere: () => boolean, make: () => void): string | null {
  let reason = ''
  for (let left = 2; left > 0 && !isThere(); left -= 1) {
    try {
      make()
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
    }
  }
  return isThere() ? null : reason
}
