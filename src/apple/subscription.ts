/** Verifies the entries of Apple's subscription statuses. The two signed texts of an entry must belong together. */
import { mapVerified, SignatureError, type Verified, type Verifier } from './jws/signed.ts'
import { verifyTransaction } from './notification.ts'
import { parseLenient } from './notification_payload.ts'
import { type Environment, type Renewal, RenewalPayload, type Transaction } from './payloads.ts'

/** The current state of a subscription: its last transaction and its renewal info, each verified separately. */
export type SubscriptionFacts = { transaction: Verified<Transaction>; renewal: Verified<Renewal> }

/** The subscription that an entry must describe. */
type Expected = { bundle_id: string; environment: Environment; original_transaction_id: string }

/**
 * Verifies signed renewal info. Throws SignatureError, with code `payload` for anything else that Apple signed;
 * Refusal 503 `busy`.
 */
export async function verifyRenewal(verifier: Verifier, jws: string): Promise<Verified<Renewal>> {
  const proved = await verifier.verify(jws)
  const { value, problem } = parseLenient(RenewalPayload, proved.payload)
  if (value !== null) return mapVerified(proved, () => value)
  throw new SignatureError('payload', `signed by Apple, but not renewal information: ${problem}`)
}

/**
 * Verifies an entry of Get All Subscription Statuses. Throws SignatureError, with code `mismatch` if the texts are
 * not of the expected subscription; Refusal 503 `busy`.
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
  assertEqual('bundle id', transaction.payload.bundle_id, expected.bundle_id)
  for (const { payload } of [transaction, renewal]) {
    assertEqual('environment', payload.environment, expected.environment)
    assertEqual('original transaction id', payload.original_transaction_id, expected.original_transaction_id)
  }
  return { transaction, renewal }
}

function assertEqual(what: string, found: string, expected: string): void {
  if (found === expected) return
  throw new SignatureError('mismatch', `signed by Apple, but for another ${what}: ${found}, not ${expected}`)
}
