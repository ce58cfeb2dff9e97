/** What we compute: whether Apple signed what its list of subscriptions holds, and whether the two texts of an entry belong together. */
import { mapVerified, SignatureError, type Verified, type Verifier } from './jws/signed.ts'
import { verifyTransaction } from './notification.ts'
import { parseLenient } from './notification_payload.ts'
import { type Environment, type Renewal, RenewalPayload, type Transaction } from './payloads.ts'

/** A subscription as Apple sees it now: its last transaction and how it is to renew, each proved by itself. */
export type SubscriptionFacts = { transaction: Verified<Transaction>; renewal: Verified<Renewal> }

/** What such an entry has to be about. */
type Expected = { bundle_id: string; environment: Environment; original_transaction_id: string }

/** Proves signed renewal information. Throws SignatureError, `payload` for something else that Apple signed; Refusal 503 `busy`. */
export async function verifyRenewal(verifier: Verifier, jws: string): Promise<Verified<Renewal>> {
  const proved = await verifier.verify(jws)
  const { value, problem } = parseLenient(RenewalPayload, proved.payload)
  if (value !== null) return mapVerified(proved, () => value)
  throw new SignatureError('payload', `signed by Apple, but not renewal information: ${problem}`)
}

/**
 * Proves one entry of Get All Subscription Statuses. Throws SignatureError, `mismatch` where the texts are not of one
 * subscription, or not of the expected one; Refusal 503 `busy`.
 */
export async function verifySubscription(
  verifier: Verifier,
  signed: { transaction: string; renewal: string },
  expected: Expected,
): Promise<SubscriptionFacts> {
  const [transaction, renewal] = await Promise.all([
    verifyTransaction(verifier, signed.transaction),
    verifyRenewal(verifier, signed.renewal),
  ])
  assertIs('bundle id', transaction.payload.bundle_id, expected.bundle_id)
  for (const { payload } of [transaction, renewal]) {
    assertIs('environment', payload.environment, expected.environment)
    assertIs('original transaction id', payload.original_transaction_id, expected.original_transaction_id)
  }
  return { transaction, renewal }
}

function assertIs(what: string, found: string, expected: string): void {
  if (found === expected) return
  throw new SignatureError('mismatch', `signed by Apple, but for another ${what}: ${found}, not ${expected}`)
}
