/** Decides whether continuous integration runs the tests of an SDK, and what it means that it cannot. */

/** Hashes of the files that the tests depend on. */
type Hashes = {
  /** Those of the checkout. */
  now: string
  /** Those of the last run without a fault on this machine; null if there was none. */
  green: string | null
  /** Those of the branch that changes land on; null if it is not known. */
  landed: string | null
}

/** A run without a fault need not be repeated. */
export const isDue = ({ now, green }: Hashes): boolean => now !== green

/** Without what the tests need, files that passed before count as passed; files that changed since do not. */
export function isExcused({ now, green, landed }: Hashes): boolean {
  const passed = [green, landed].filter((one) => one !== null)
  return passed.length === 0 || passed.includes(now)
}
