/** Parses the payload of a notification, before its nested signed texts are verified. */
import * as v from 'valibot'
import { isObject } from './jws/compact.ts'
import { assertStore, SignatureError } from './jws/signed.ts'
import { type Environment, Environments, type NotificationBody, NotificationPayload } from './payloads.ts'

/** The app that a notification is about. Each of Apple's bodies has these fields. */
export type AppIdentity = { bundle_id: string; apple_id: number | null; environment: Environment }

/** The invalid fields and their errors as text. */
function issuesText(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = issues.map((issue) => `${v.getDotPath(issue) ?? 'payload'}: ${issue.message}`)
  return [...new Set(faults)].join('; ')
}

/** A copy without the invalid fields. A field is at the top level or one level below it, such as `data.status`. */
function withoutInvalidFields(payload: unknown, issues: readonly v.BaseIssue<unknown>[]): unknown {
  const copy: unknown = structuredClone(payload)
  for (const { path } of issues) {
    const [field, below] = path ?? []
    const inner = isObject(copy) && field !== undefined ? copy[String(field.key)] : undefined
    if (below !== undefined && isObject(inner)) delete inner[String(below.key)]
    else if (field !== undefined && isObject(copy)) delete copy[String(field.key)]
  }
  return copy
}

/**
 * Parses a verified payload leniently. A field of an unknown format is treated as missing and named in `problem`;
 * `value` is null if it is a required field.
 */
export function parseLenient<Schema extends v.GenericSchema>(
  schema: Schema,
  payload: unknown,
): { value: v.InferOutput<Schema> | null; problem: string | null } {
  const whole = v.safeParse(schema, payload)
  if (whole.success) return { value: whole.output, problem: null }
  const partial = v.safeParse(schema, withoutInvalidFields(payload, whole.issues))
  return { value: partial.success ? partial.output : null, problem: issuesText(whole.issues) }
}

/** The body of a notification. Throws SignatureError `payload` if fields that identify it are missing or invalid. */
export function parseBody(payload: unknown): { body: NotificationBody; problem: string | null } {
  const { value, problem } = parseLenient(NotificationPayload, payload)
  if (value !== null) return { body: value, problem }
  throw new SignatureError('payload', `the notification cannot be identified: ${problem}`)
}

const AppFields = v.looseObject({
  bundleId: v.pipe(v.string(), v.minLength(1)),
  appAppleId: v.optional(v.nullable(v.number()), null),
  environment: v.optional(v.nullable(v.string()), null),
})

/** Apple adds a kind of body every few years, each with the same three fields, so unknown bodies are accepted too. */
function bodiesOf(body: NotificationBody, payload: Record<string, unknown>): unknown[] {
  const known = [body.data, body.summary, body.externalPurchaseToken, body.appData]
  return [...known.filter((one) => one !== null), ...Object.values(payload)]
}

/** An external purchase token has no environment; sandbox tokens have the prefix SANDBOX. */
function environmentOfToken(token: NotificationBody['externalPurchaseToken']): string | null {
  if (token === null) return null
  return token.externalPurchaseId?.startsWith('SANDBOX') ? 'Sandbox' : 'Production'
}

/**
 * The app that a notification is about. Throws SignatureError `payload` if no body has a bundle id; `xcode` or
 * `environment` if the environment is neither Production nor Sandbox.
 */
export function appIdentityOf(body: NotificationBody, payload: Record<string, unknown>): AppIdentity {
  const appBody = bodiesOf(body, payload).find((one) => v.is(AppFields, one))
  if (appBody === undefined) throw new SignatureError('payload', 'the notification has no bundle id')
  const { bundleId, appAppleId, environment } = v.parse(AppFields, appBody)
  const environmentName =
    appBody === body.externalPurchaseToken ? environmentOfToken(body.externalPurchaseToken) : environment
  assertStore(environmentName)
  return { bundle_id: bundleId, apple_id: appAppleId, environment: v.parse(Environments, environmentName) }
}

/** `fields` without those that Apple did not send. */
function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** The fields of a notification that its event shows in addition to the transaction. Omits missing fields. */
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

/** The fields of JWSAppTransaction that an event shows. */
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
