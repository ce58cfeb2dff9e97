/** What we compute: one notification of the App Store, proved part by part, and put into our words. */
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

/** What a notification says. Times are milliseconds since the epoch; words are Apple's, unknown ones included. */
export type Notification = {
  uuid: string
  type: string
  subtype: string | null
  /** When it was signed; where the oldest do not say, when the transaction or the renewal inside was. */
  signed_at: number | null
  bundle_id: string
  apple_id: number | null
  environment: Environment
  /** Of the subscription as of `signed_at`: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked. */
  status: number | null
  transaction: Verified<Transaction> | null
  renewal: Verified<Renewal> | null
  /** What else an event shows: the summary, the external purchase token, why a consumption is asked for, … */
  detail: Record<string, unknown>
  /** What was proved but could not be read, in words. */
  problem: string | null
}

type VerifiedPayload = Verified<Record<string, unknown>>

/** What else of Apple's was posted here by mistake, told by a field that only this kind has. */
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

/** Proves a signed text inside of another. Its fault says which of them it was. */
async function verifyInside(verifier: Verifier, field: string, jws: string | null | undefined) {
  if (jws === null || jws === undefined) return null
  try {
    return await verifier.verify(jws)
  } catch (error) {
    if (error instanceof SignatureError) throw new SignatureError(error.code, `${field}: ${error.message}`)
    throw error
  }
}

/** All of them, or the first fault in the order given, whichever was found first. */
async function allOrFirstError(
  work: readonly Promise<VerifiedPayload | null>[],
): Promise<(VerifiedPayload | null)[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/**
 * Each part is signed by itself, so that genuine parts could be put together into a lie: what two of them say
 * about the same thing must agree.
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
    (part) => part?.payload ?? {},
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

/** A proved part in our words, or null; and what of it could not be read. */
function parsePart<Schema extends v.GenericSchema>(
  name: string,
  part: VerifiedPayload | null,
  schema: Schema,
) {
  if (part === null) return { value: null, problem: null }
  const { value, problem } = parseLenient(schema, part.payload)
  return {
    value: value === null ? null : mapVerified(part, (): v.InferOutput<Schema> => value),
    problem: problem === null ? null : `${name}: ${problem}`,
  }
}

/**
 * Proves a notification and each signed text inside of it, and that these belong together. Types, subtypes and
 * fields that we do not know are no fault. Throws SignatureError; Refusal 400 `not_a_notification` for something
 * else that Apple signed; Refusal 503 `busy`.
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
  const bought = parsePart('transaction', transaction, TransactionPayload)
  const renews = parsePart('renewal', renewal, RenewalPayload)
  const app = parsePart('app transaction', appTransaction, AppTransactionPayload)
  const problems = [problem, bought.problem, renews.problem, app.problem].filter((one) => one !== null)
  return mapVerified(outer, () => ({
    uuid: body.notificationUUID,
    type: body.notificationType,
    subtype: body.subtype,
    signed_at: body.signedDate ?? bought.value?.payload.signed_at ?? renews.value?.payload.signed_at ?? null,
    ...appIdentity,
    status: body.data?.status ?? null,
    transaction: bought.value,
    renewal: renews.value,
    detail: { ...detailOf(body), ...app.value?.payload },
    problem: problems.length === 0 ? null : problems.join('; '),
  }))
}

/**
 * Proves a signed transaction from wherever: a device, the App Store Server API, a notification. Throws
 * SignatureError, `payload` for something else that Apple signed; Refusal 503 `busy`.
 */
export async function verifyTransaction(verifier: Verifier, jws: string): Promise<Verified<Transaction>> {
  const proved = await verifier.verify(jws)
  const { value, problem } = parseLenient(TransactionPayload, proved.payload)
  if (value !== null) return mapVerified(proved, () => value)
  throw new SignatureError('payload', `signed by Apple, but not a transaction: ${problem}`)
}
