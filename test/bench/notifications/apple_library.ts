/** Verifies each signed payload of a notification with Apple's server library, as its documentation shows. */
import { Environment, SignedDataVerifier } from '@apple/app-store-server-library'
import type { SignedNotification } from './payloads.ts'

const ENVIRONMENTS = { Production: Environment.PRODUCTION, Sandbox: Environment.SANDBOX }

/**
 * With `online` the library checks revocation and caches the result of a chain for 15 minutes; without it the library
 * has no cache. There is one verifier per app and environment, because each verifier has a separate cache.
 */
export function openAppleLibrary(root: Buffer, online: boolean) {
  const verifiers = new Map<string, SignedDataVerifier>()

  function verifierFor({ bundle_id, apple_id, environment }: SignedNotification['app']): SignedDataVerifier {
    const name = `${bundle_id} ${environment}`
    const known = verifiers.get(name)
    if (known) return known
    const verifier = new SignedDataVerifier([root], online, ENVIRONMENTS[environment], bundle_id, apple_id)
    verifiers.set(name, verifier)
    return verifier
  }

  /** @throws Error if the library refuses the notification. */
  return async function verify(notification: SignedNotification): Promise<void> {
    const verifier = verifierFor(notification.app)
    await verifier.verifyAndDecodeNotification(notification.signedPayload)
    await verifier.verifyAndDecodeTransaction(notification.transaction)
    await verifier.verifyAndDecodeRenewalInfo(notification.renewal)
  }
}
