/** Apple's own server library as its documentation uses it: each signed text of a notification verified. */
import { Environment, SignedDataVerifier } from '@apple/app-store-server-library'
import type { Mail } from './payloads.ts'

const ENVIRONMENTS = { Production: Environment.PRODUCTION, Sandbox: Environment.SANDBOX }

/**
 * `online` asks for revocation and then keeps what it learned of a chain for 15 minutes; offline it keeps nothing.
 * One verifier for each app and environment, made once, because what it keeps is its own.
 */
export function openApplesLibrary(root: Buffer, online: boolean) {
  const verifiers = new Map<string, SignedDataVerifier>()

  function verifierFor({ bundle_id, apple_id, environment }: Mail['app']): SignedDataVerifier {
    const name = `${bundle_id} ${environment}`
    const known = verifiers.get(name)
    if (known) return known
    const made = new SignedDataVerifier([root], online, ENVIRONMENTS[environment], bundle_id, apple_id)
    verifiers.set(name, made)
    return made
  }

  /** Throws where the library does not believe it. */
  return async function verify(mail: Mail): Promise<void> {
    const verifier = verifierFor(mail.app)
    await verifier.verifyAndDecodeNotification(mail.signedPayload)
    await verifier.verifyAndDecodeTransaction(mail.transaction)
    await verifier.verifyAndDecodeRenewalInfo(mail.renewal)
  }
}
