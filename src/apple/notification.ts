/** Verifies an App Store notification and its nested signed texts. */
import type * as v from 'valibot'
import { Refusal } from '../errors.ts'
import { mapVerified, SignatureError, type Verified, type Verifier } from './jws/signed.ts'
import {
  type AppIdentity,
  AppTransactionPayload,
  appIdentityOf,
  detailOf,
  parseBody,
  parseLenient,
} from './notification_payload.ts'
import {
  type Environment,
  type Renewal,
  RenewalPayload,
  type Transaction,
  TransactionPayload,
} from './payloads.ts'

/** A notification. Times are milliseconds since the epoch; texts are Apple's values, including unknown ones. */
export type Notification = {
  uuid: string
  type: string
  subtype: string | null
  /** When the notification was signed. For the oldest ones, when the nested transaction or renewal info was signed. */
  signed_at: number | null
  bundle_id: string
  apple_id: number | null
  environment: Environment
  /** The status of the subscription at `signed_at`: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked. */
  status: number | null
  transaction: Verified<Transaction> | null
  renewal: Verified<Renewal> | null
  /** Other fields that an event shows: the summary, the external purchase token, the consumption request reason, … */
  detail: Record<string, unknown>
  /** Names the verified fields that could not be parsed, with the errors; null if there are none. */
  problem: string | null
}

type VerifiedPayload = Verified<Record<string, unknown>>

/** Other signed texts that are posted by mistake, recognized by a field that only they have. */
const FOREIGN_JWS_FIELDS: readonly (readonly [field: string, what: string])[] = [
  ['autoRenewStatus', 'renewal information (JWSRenewalInfo)'],
  ['autoRenewProductId', 'renewal information (JWSRenewalInfo)'],
  ['receiptType', 'an app transaction (JWSAppTransaction)'],
  ['transactionId', 'a transaction (JWSTransaction)'],
]

function assertNotification(payload: Record<string, unknown>): void {
  if (typeof payload.notificationType === 'string') return
  const what = FOREIGN_JWS_FIELDS.find(([field]) => field in payload)?.[1] ?? 'something else'
  const detail = `signed by Apple, but this is ${what}: expected the signedPayload of a notification of version 2`
  throw new Refusal(400, 'not_a_notification', detail)
}

/** Verifies a nested signed text. Its error names the field. */
async function verifyInside(verifier: Verifier, field: string, jws: string | null | undefined) {
  if (jws === null || jws === undefined) return null
  try {
    return await verifier.verify(jws)
  } catch (error) {
    if (error instanceof SignatureError) throw new SignatureError(error.code, `${field}: ${error.message}`)
    throw error
  }
}

/** All results, or the error of the first failed one in order, so that the error is the same each time. */
async function allOrFirstError(
  work: readonly Promise<VerifiedPayload | null>[],
): Promise<(VerifiedPayload | null)[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/**
 * Each part is signed separately, so an attacker could combine genuine parts of different notifications. Values that
 * two parts share must therefore agree.
 */
function assertSame(what: string, one: unknown, other: unknown): void {
  if (one === undefined || other === undefined || one === other) return
  const named = [one, other].map((value) => JSON.stringify(value)).join(' and ')
  throw new SignatureError('mismatch', `parts that do not belong together: ${what} ${named}`)
}

type NestedParts = {
  transaction: VerifiedPayload | null
  renewal: VerifiedPayload | null
  appTransaction: VerifiedPayload | null
}

function assertConsistent(appIdentity: AppIdentity, nested: NestedParts): void {
  const [transaction, renewal, app] = [nested.transaction, nested.renewal, nested.appTransaction].map(
    (verified) => verified?.payload ?? {},
  )
  const store = appIdentity.environment === 'production' ? 'Production' : 'Sandbox'
  assertSame('bundle ids', appIdentity.bundle_id, transaction?.bundleId)
  assertSame('bundle ids', appIdentity.bundle_id, app?.bundleId)
  assertSame('environments', store, transaction?.environment)
  assertSame('environments', store, renewal?.environment)
  assertSame('environments', store, app?.receiptType)
  const original = transaction?.originalTransactionId
  assertSame('original transaction ids', original, renewal?.originalTransactionId)
}

/** Parses a verified part of a notification. `problem` names the fields that could not be parsed. */
function parsePart<Schema extends v.GenericSchema>(
  name: string,
  verified: VerifiedPayload | null,
  schema: Schema,
) {
  if (verified === null) return { value: null, problem: null }
  const { value, problem } = parseLenient(schema, verified.payload)
  return {
    value: value === null ? null : mapVerified(verified, (): v.InferOutput<Schema> => value),
    problem: problem === null ? null : `${name}: ${problem}`,
  }
}

/**
 * Verifies a notification and its nested signed texts, and that they belong together. Accepts unknown types, subtypes
 * and fields. Throws SignatureError; Refusal 400 `not_a_notification` for anything else that Apple signed; Refusal 503
 * `busy`.
 */
export async function verifyNotification(
  verifier: Verifier,
  signedPayload: string,
): Promise<Verified<Notification>> {
  const outer = await verifier.verify(signedPayload)
  assertNotification(outer.payload)
  const { body, problem } = parseBody(outer.payload)
  const appIdentity = appIdentityOf(body, outer.payload)
  const [transaction = null, renewal = null, appTransaction = null] = await allOrFirstError([
    verifyInside(verifier, 'signedTransactionInfo', body.data?.signedTransactionInfo),
    verifyInside(verifier, 'signedRenewalInfo', body.data?.signedRenewalInfo),
    verifyInside(verifier, 'signedAppTransactionInfo', body.appData?.signedAppTransactionInfo),
  ])
  assertConsistent(appIdentity, { transaction, renewal, appTransaction })
  const parsedTransaction = parsePart('transaction', transaction, TransactionPayload)
  const parsedRenewal = parsePart('renewal', renewal, RenewalPayload)
  const app = parsePart('app transaction', appTransaction, AppTransactionPayload)
  const problems = [problem, parsedTransaction.problem, parsedRenewal.problem, app.problem].filter(
    (one) => one !== null,
  )
  return mapVerified(outer, () => ({
    uuid: body.notificationUUID,
    type: body.notificationType,
    subtype: body.subtype,
    signed_at:
      body.signedDate ??
      parsedTransaction.value?.payload.signed_at ??
      parsedRenewal.value?.payload.signed_at ??
      null,
    ...appIdentity,
    status: body.data?.status ?? null,
    transaction: parsedTransaction.value,
    renewal: parsedRenewal.value,
    detail: { ...detailOf(body), ...app.value?.payload },
    problem: problems.length === 0 ? null : problems.join('; '),
  }))
}

/**
 * Verifies a signed transaction from a device, the App Store Server API or a notification. Throws SignatureError, with
 * code `payload` for anything else that Apple signed; Refusal 503 `busy`.
 */
export async function verifyTransaction(verifier: Verifier, jws: string): Promise<Verified<Transaction>> {
  const proved = await verifier.verify(jws)
  const { value, problem } = parseLenient(TransactionPayload, proved.payload)
  if (value !== null) return mapVerified(proved, () => value)
  throw new SignatureError('payload', `signed by Apple, but not a transaction: ${problem}`)
}
