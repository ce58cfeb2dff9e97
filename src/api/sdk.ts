/** `/api/sdk/v1`: the two endpoints that client apps and the owner's backend call. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { SignatureError, type Verified, type Verifier } from '../apple/jws/signed.ts'
import { verifyTransaction } from '../apple/notification.ts'
import type { Transaction } from '../apple/payloads.ts'
import type { App } from '../apps/apps.ts'
import type { Attribution } from '../attribution/attribution.ts'
import { type Caller, type Callers, type Claim, isProved } from '../attribution/callers.ts'
import { openFairWindow } from '../attribution/fair_window.ts'
import type { RefusedCalls } from '../attribution/refused_calls.ts'
import { AttributeCall, IdentifyCall } from '../attribution/requests.ts'
import { assertAttributeCount } from '../attribution/users.ts'
import { openWindow } from '../attribution/window.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { addressBucketOf, clientAddress } from '../http/addresses.ts'
import { header, readJson } from '../http/body/body.ts'
import { type Access, defineRoute, type Route } from '../http/route.ts'
import type { Store } from '../store/store.ts'

export type SdkLimits = {
  sdk_requests_per_minute: number
  anonymous_requests_per_minute: number
  sdk_body_bytes: number
  attributes_per_user: number
}

type Deps = {
  store: Store
  /** A clock that never jumps, for the rate windows. */
  monotonic: Clock
  verifier: Verifier
  callers: Callers
  attribution: Attribution
  refusedCalls: Pick<RefusedCalls, 'countRefusals' | 'noteClaim'>
  limits: SdkLimits
}

const UNATTESTED_REASONS = new Set(['pending', 'unsupported', 'simulator', 'enroll-failed'])

const verification = v.picklist(['verified', 'unverified'])
const Identified = v.object({ appUserId: v.string(), bundleId: v.string(), verification })
const Attributed = v.object({
  originalTransactionId: v.string(),
  appUserId: v.string(),
  moved: v.pipe(v.boolean(), v.description('true if the purchase was linked to another user before')),
  verification,
})
const SDK: Access<null> = {
  security: ['sdk_key', 'none'],
  refusals: {
    401: 'invalid_key, credential_required',
    403: 'app_not_in_organization',
    404: 'unknown_app',
    409: 'ambiguous_app',
    410: 'forgotten',
    429: 'rate_limited',
  },
  // The key is checked after the body is parsed, because the body contains the bundle id.
  admit: () => null,
}

export function sdkRoutes(deps: Deps): Route[] {
  const { store, attribution, refusedCalls, limits } = deps
  const admit = openAdmission(deps)
  const common = {
    method: 'POST',
    tag: 'SDK',
    access: SDK,
    cors: true,
    around: refusedCalls.countRefusals,
    async read_body(event: H3Event) {
      store.assertFreeSpace()
      return refusedCalls.noteClaim(event, await readJson(event, limits.sdk_body_bytes, 'reserved'))
    },
  } as const

  return [
    defineRoute({
      ...common,
      path: '/api/sdk/v1/identify',
      summary:
        'Creates or updates a user: attributes are merged shallowly, device fields replaced if present',
      body: IdentifyCall,
      answers: { 200: { description: 'Stored on disk', schema: Identified } },
      async handler({ event, body }) {
        assertAttributeCount(body.attributes, limits.attributes_per_user)
        const caller = admit(event, { bundle_id: body.bundleId, isAndroid: body.platform === 'android' })
        const { verification } = await store.commit(() =>
          attribution.identify(caller, body, unattestedReason(event)),
        )
        return { appUserId: body.appUserId, bundleId: body.bundleId, verification }
      },
    }),
    defineRoute({
      ...common,
      path: '/api/sdk/v1/attribute',
      summary: 'Links a purchase to a user, or moves it from another user',
      body: AttributeCall,
      answers: { 200: { description: 'Stored on disk', schema: Attributed } },
      refusals: { 400: 'invalid_signed_transaction' },
      async handler({ event, body }) {
        const caller = admit(event, { bundle_id: body.bundleId, isAndroid: body.store === 'google' })
        const signed =
          body.jws === null ? null : await verifySigned(deps.verifier, caller.app, body, body.jws)
        const evidence = { signed, unattested: unattestedReason(event) }
        const { link, moved } = await store.commit(() => attribution.attribute(caller, body, evidence))
        return {
          originalTransactionId: body.originalTransactionId,
          appUserId: link.app_user_id,
          moved,
          verification: link.verification,
        }
      },
    }),
  ]
}

/**
 * Returns a function that resolves the caller and applies the rate limits. Each organization has a rate window. Calls
 * without a known organization share a rate window by client address.
 */
function openAdmission({ callers, limits, monotonic }: Deps) {
  const organizations = openFairWindow(() => limits.sdk_requests_per_minute, monotonic)
  const addresses = openWindow('address', () => limits.anonymous_requests_per_minute, monotonic)

  return function admit(event: H3Event, claim: Omit<Claim, 'authorization'>): Caller {
    const caller = identifyCaller(event, claim)
    const { app, credential } = caller
    const address = credential === 'secret' ? null : addressBucketOf(clientAddress(event))
    organizations.admit(app.organization_id, { address, isProved: isProved(credential) })
    return caller
  }

  function identifyCaller(event: H3Event, claim: Omit<Claim, 'authorization'>): Caller {
    try {
      return callers.resolve({ ...claim, authorization: header(event, 'authorization') ?? null })
    } catch (error) {
      if (error instanceof Refusal) addresses.admit(addressBucketOf(clientAddress(event)))
      throw error
    }
  }
}

/** The SDK’s reason for sending no attestation, from its header; null without a known reason. */
function unattestedReason(event: H3Event): string | null {
  const reported = header(event, 'x-windfall-unattested') ?? header(event, 'x-revenuehog-unattested')
  return reported !== undefined && UNATTESTED_REASONS.has(reported) ? reported : null
}

/**
 * Verifies the signed transaction of an attribute call. Returns `xcode` for a transaction from Xcode's local store. That
 * transaction proves nothing and is not stored, but the call is accepted so that development works.
 *
 * @throws Refusal 400 `invalid_signed_transaction`.
 */
async function verifySigned(
  verifier: Verifier,
  app: App,
  call: AttributeCall,
  jws: string,
): Promise<Verified<Transaction> | 'xcode'> {
  if (call.store === 'google')
    throw invalid('a Google Play purchase cannot have a transaction signed by Apple')
  try {
    const signed = await verifyTransaction(verifier, jws)
    const { bundle_id, original_transaction_id } = signed.payload
    if (bundle_id !== app.bundle_id)
      throw invalid(`the transaction belongs to ${bundle_id}, not to ${app.bundle_id}`)
    if (original_transaction_id !== call.originalTransactionId) {
      throw invalid(
        `the transaction's original transaction id is ${original_transaction_id}, not ${call.originalTransactionId}`,
      )
    }
    return signed
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    if (error.code === 'xcode') return 'xcode'
    throw invalid(`${error.code}: ${error.message}`)
  }
}

const invalid = (message: string): Refusal =>
  new Refusal(400, 'invalid_signed_transaction', message, { errors: [{ path: 'jws', message }] })
