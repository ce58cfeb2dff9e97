/**
 * The user that a purchase belongs to, as two separate facts: the user that the last call named, and the user that the
 * last proved call named, with the proofs. Every call changes the first fact; only a proved call changes the second.
 */

/**
 * purchase: the call carried Apple's signature over this transaction. device: an attested device. server: a secret key.
 */
export type Proof = 'purchase' | 'device' | 'server'

export type LinkFacts = { app_user_id: string; proved_app_user_id: string | null; proofs: readonly Proof[] }

export type Verification = 'verified' | 'unverified'

/**
 * The link after one more call. Proofs accumulate while the proved user stays the same and start over on a change. A
 * call that only a device proves does not displace a user whom the purchase or the server proved: a device proves a
 * genuine app, not who holds it.
 */
export function linkAfter(
  before: LinkFacts | null,
  app_user_id: string,
  proofs: readonly Proof[],
): LinkFacts {
  if (proofs.length === 0 || isOutranked(before, app_user_id, proofs)) {
    return {
      app_user_id,
      proved_app_user_id: before?.proved_app_user_id ?? null,
      proofs: before?.proofs ?? [],
    }
  }
  const earlier = before?.proved_app_user_id === app_user_id ? before.proofs : []
  return {
    app_user_id,
    proved_app_user_id: app_user_id,
    proofs: [...new Set([...earlier, ...proofs])].sort(),
  }
}

function isOutranked(before: LinkFacts | null, app_user_id: string, proofs: readonly Proof[]): boolean {
  const isByDeviceAlone = proofs.every((proof) => proof === 'device')
  const isStronger = before?.proofs.some((proof) => proof !== 'device') ?? false
  return isByDeviceAlone && isStronger && before?.proved_app_user_id !== app_user_id
}

/** `verified` while both facts agree and Apple's signature is among the proofs. */
export function labelOf(link: LinkFacts): Verification {
  const isAgreed = link.proved_app_user_id === link.app_user_id
  return isAgreed && link.proofs.includes('purchase') ? 'verified' : 'unverified'
}

/** Whether two links look the same to a reader. */
export function isSameLink(a: LinkFacts, b: LinkFacts): boolean {
  return (
    a.app_user_id === b.app_user_id &&
    a.proved_app_user_id === b.proved_app_user_id &&
    a.proofs.join() === b.proofs.join()
  )
}
