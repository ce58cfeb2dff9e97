/** Decides whether continuous integration runs the tests of an SDK, and what it means that it cannot. */

/** Hashes of the files that the tests use: of the SDK, and of what it depends on. */
type Used = {
  /** Those of the checkout. */
  now: string
  /** Those of the last run without a fault on this machine; null if there was none. */
  green: string | null
  /** Those of the main branch where this branch left it; null on the main branch itself, or if it is not known. */
  base: string | null
}

/** A run without a fault need not be repeated, and what is on the main branch had one. */
export const isDue = ({ now, green, base }: Used): boolean => now !== green && now !== base

/** Hashes of the SDK's own files. */
type Own = {
  /** Those of the checkout. */
  now: string
  /** Those of the branch that changes land on; null if it is not known. */
  landed: string | null
}

/** Without what the tests need, files that passed before count as passed; files that changed since do not. */
export const isExcused = ({ now, landed }: Own): boolean => landed === null || now === landed
