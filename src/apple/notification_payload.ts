/** What we compute: what a notification says by itself, before the signed texts inside of it are looked at. */
import * as v from 'valibot'
import { isObject } from './jws/compact.ts'
import { assertStore, SignatureError } from './jws/signed.ts'
import { type Environment, Environments, type NotificationBody, NotificationPayload } from './payloads.ts'

/** Whom a notification is about: what each of Apple's bodies names, whichever of them came. */
export type AppIdentity = { bundle_id: string; apple_id: number | null; environment: Environment }

/** Faults in words: which field, and what is wrong with it. */
function issuesText(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = issues.map((issue) => `${v.getDotPath(issue) ?? 'payload'}: ${issue.message}`)
  return [...new Set(faults)].join('; ')
}

/** A copy without the fields at fault: those at the top, or one below it, as in `data.status`. */
function withoutInvalidFields(payload: unknown, issues: readonly v.BaseIssue<unknown>[]): unknown {
  const kept: unknown = structuredClone(payload)
  for (const { path } of issues) {
    const [field, below] = path ?? []
    const inner = isObject(kept) && field !== undefined ? kept[String(field.key)] : undefined
    if (below !== undefined && isObject(inner)) delete inner[String(below.key)]
    else if (field !== undefined && isObject(kept)) delete kept[String(field.key)]
  }
  return kept
}

/**
 * What can be read of a proved payload. A field that Apple sends in a shape we do not know counts as not sent and
 * is named in `problem`; `value` is null when what is needed is among them.
 */
export function parseLenient<Schema extends v.GenericSchema>(
  schema: Schema,
  payload: unknown,
): { value: v.InferOutput<Schema> | null; problem: string | null } {
  const whole = v.safeParse(schema, payload)
  if (whole.success) return { value: whole.output, problem: null }
  const most = v.safeParse(schema, withoutInvalidFields(payload, whole.issues))
  return { value: most.success ? most.output : null, problem: issuesText(whole.issues) }
}

/** The body of a notification. Throws SignatureError `payload` when it cannot be told which notification it is. */
export function parseBody(payload: unknown): { body: NotificationBody; problem: string | null } {
  const { value, problem } = parseLenient(NotificationPayload, payload)
  if (value !== null) return { body: value, problem }
  throw new SignatureError('payload', `a notification that cannot be told from others: ${problem}`)
}

const AppFields = v.looseObject({
  bundleId: v.pipe(v.string(), v.minLength(1)),
  appAppleId: v.optional(v.nullable(v.number()), null),
  environment: v.optional(v.nullable(v.string()), null),
})

/** Apple has added a body every few years, each with the same three fields: the next one will do as well. */
function bodiesOf(body: NotificationBody, payload: Record<string, unknown>): unknown[] {
  const known = [body.data, body.summary, body.externalPurchaseToken, body.appData]
  return [...known.filter((one) => one !== null), ...Object.values(payload)]
}

/** An external purchase token names no environment: sandbox tokens begin with a word of their own. */
function environmentOfToken(token: NotificationBody['externalPurchaseToken']): string | null {
  if (token === null) return null
  return token.externalPurchaseId?.startsWith('SANDBOX') ? 'Sandbox' : 'Production'
}

/**
 * Whom the notification is about. Throws SignatureError `payload` when no body names a bundle id, `xcode` or
 * `environment` when it comes from neither Production nor Sandbox.
 */
export function appIdentityOf(body: NotificationBody, payload: Record<string, unknown>): AppIdentity {
  const placed = bodiesOf(body, payload).find((one) => v.is(AppFields, one))
  if (placed === undefined) throw new SignatureError('payload', 'a notification that names no bundle id')
  const { bundleId, appAppleId, environment } = v.parse(AppFields, placed)
  const named =
    placed === body.externalPurchaseToken ? environmentOfToken(body.externalPurchaseToken) : environment
  assertStore(named)
  return { bundle_id: bundleId, apple_id: appAppleId, environment: v.parse(Environments, named) }
}

/** `fields` in our words, without those that Apple did not send. */
function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** What a notification's event shows beside its transaction. Absent fields are left out. */
export function detailOf({
  data,
  summary,
  externalPurchaseToken,
}: NotificationBody): Record<string, unknown> {
  return withoutNulls({
    consumption_request_reason: data?.consumptionRequestReason,
    request_id: summary?.requestIdentifier,
    product_id: summary?.productId,
    storefronts: summary?.storefrontCountryCodes,
    succeeded_count: summary?.succeededCount,
    failed_count: summary?.failedCount,
    external_purchase_id: externalPurchaseToken?.externalPurchaseId,
    token_type: externalPurchaseToken?.tokenType,
    token_created_at: externalPurchaseToken?.tokenCreationDate,
    token_expires_at: externalPurchaseToken?.tokenExpirationDate,
  })
}

/** JWSAppTransaction, as far as an event shows it: who installed the app, from where, since when. */
export const AppTransactionPayload = v.pipe(
  v.object({
    bundleId: v.string(),
    receiptType: Environments,
    appTransactionId: v.optional(v.string()),
    applicationVersion: v.optional(v.string()),
    originalApplicationVersion: v.optional(v.string()),
    originalPlatform: v.optional(v.string()),
    originalPurchaseDate: v.optional(v.number()),
    receiptCreationDate: v.optional(v.number()),
  }),
  v.transform((t) =>
    withoutNulls({
      app_transaction_id: t.appTransactionId,
      application_version: t.applicationVersion,
      original_application_version: t.originalApplicationVersion,
      original_platform: t.originalPlatform,
      original_purchased_at: t.originalPurchaseDate,
      receipt_created_at: t.receiptCreationDate,
    }),
  ),
)
