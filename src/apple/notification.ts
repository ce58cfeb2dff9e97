/** What we compute: one notification of the App Store, proved part by part, and put into our words. */
import type * as v from 'valibot'
import { Refusal } from '../errors.ts'
import { restated, SignatureError, type Verified, type Verifier } from './jws/signed.ts'
import {
  AppTransactionPayload,
  detailOf,
  type Place,
  placeOf,
  readBody,
  readMost,
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

type Proved = Verified<Record<string, unknown>>

/** What else of Apple's was posted here by mistake, told by a field that only this kind has. */
const STRANGERS: readonly (readonly [field: string, what: string])[] = [
  ['autoRenewStatus', 'renewal information (JWSRenewalInfo)'],
  ['autoRenewProductId', 'renewal information (JWSRenewalInfo)'],
  ['receiptType', 'an app transaction (JWSAppTransaction)'],
  ['transactionId', 'a transaction (JWSTransaction)'],
]

function assertNotification(payload: Record<string, unknown>): void {
  if (typeof payload.notificationType === 'string') return
  const what = STRANGERS.find(([field]) => field in payload)?.[1] ?? 'something else'
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
async function together(work: readonly Promise<Proved | null>[]): Promise<(Proved | null)[]> {
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

type Inside = { transaction: Proved | null; renewal: Proved | null; appTransaction: Proved | null }

function assertBelongTogether(place: Place, inside: Inside): void {
  const [transaction, renewal, app] = [inside.transaction, inside.renewal, inside.appTransaction].map(
    (part) => part?.payload ?? {},
  )
  const store = place.environment === 'production' ? 'Production' : 'Sandbox'
  assertSame('bundle ids', place.bundle_id, transaction?.bundleId)
  assertSame('bundle ids', place.bundle_id, app?.bundleId)
  assertSame('environments', store, transaction?.environment)
  assertSame('environments', store, renewal?.environment)
  assertSame('environments', store, app?.receiptType)
  const original = transaction?.originalTransactionId
  assertSame('original transaction ids', original, renewal?.originalTransactionId)
}

/** A proved part in our words, or null; and what of it could not be read. */
function read<Schema extends v.GenericSchema>(name: string, part: Proved | null, schema: Schema) {
  if (part === null) return { value: null, problem: null }
  const { value, problem } = readMost(schema, part.payload)
  return {
    value: value === null ? null : restated(part, (): v.InferOutput<Schema> => value),
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
  const { body, problem } = readBody(outer.payload)
  const place = placeOf(body, outer.payload)
  const [transaction = null, renewal = null, appTransaction = null] = await together([
    verifyInside(verifier, 'signedTransactionInfo', body.data?.signedTransactionInfo),
    verifyInside(verifier, 'signedRenewalInfo', body.data?.signedRenewalInfo),
    verifyInside(verifier, 'signedAppTransactionInfo', body.appData?.signedAppTransactionInfo),
  ])
  assertBelongTogether(place, { transaction, renewal, appTransaction })
  const bought = read('transaction', transaction, TransactionPayload)
  const renews = read('renewal', renewal, RenewalPayload)
  const app = read('app transaction', appTransaction, AppTransactionPayload)
  const problems = [problem, bought.problem, renews.problem, app.problem].filter((one) => one !== null)
  return restated(outer, () => ({
    uuid: body.notificationUUID,
    type: body.notificationType,
    subtype: body.subtype,
    signed_at: body.signedDate ?? bought.value?.payload.signed_at ?? renews.value?.payload.signed_at ?? null,
    ...place,
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
  const { value, problem } = readMost(TransactionPayload, proved.payload)
  if (value !== null) return restated(proved, () => value)
  throw new SignatureError('payload', `signed by Apple, but not a transaction: ${problem}`)
}
