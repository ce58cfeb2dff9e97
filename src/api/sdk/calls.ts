/** `/api/sdk/v1`: the two endpoints that client apps and the owner's backend call. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { SignatureError, type Verified, type Verifier } from '../../apple/jws/signed.ts'
import { verifyTransaction } from '../../apple/notification.ts'
import type { Transaction } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import { assertAttributeCount } from '../../attribution/attributes.ts'
import type { Attribution } from '../../attribution/attribution.ts'
import type { CallerMemory } from '../../attribution/caller_memory.ts'
import { type Caller, type Callers, type Claim, isProved } from '../../attribution/callers.ts'
import { clientDataHash, type SentAssertion } from '../../attribution/devices/assertions.ts'
import type { Attest } from '../../attribution/devices/attest.ts'
import { openFairWindow } from '../../attribution/fair_window.ts'
import type { Verification } from '../../attribution/link.ts'
import type { RefusedCalls } from '../../attribution/refused_calls.ts'
import { AttributeCall, IdentifyCall } from '../../attribution/requests.ts'
import { openWindow } from '../../attribution/window.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { header, readJson } from '../../http/body/body.ts'
import { clientOf } from '../../http/clients/client.ts'
import type { Http } from '../../http/http.ts'
import { type Access, defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'

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
  callerMemory: Pick<CallerMemory, 'networks' | 'provedAt'>
  attribution: Attribution
  attest: Pick<Attest, 'checkCall' | 'accept'>
  refusedCalls: Pick<RefusedCalls, 'countRefusals' | 'noteClaim'>
  http: { calls: Pick<Http['calls'], 'noteProof'> }
  limits: SdkLimits
}

/** The share of one device in the window of its organization. */
const DEVICE_CALLS_A_MINUTE = 30

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
    401: 'invalid_key, credential_required, assertion_required, invalid_assertion',
    403: 'app_not_in_organization, token_of_another_app',
    404: 'unknown_app',
    409: 'ambiguous_app, stale_assertion',
    410: 'forgotten',
    429: 'rate_limited, attested_only',
  },
  // The key is checked after the body is parsed, because the body contains the bundle id.
  admit: () => null,
}

export function sdkRoutes(deps: Deps): Route[] {
  const { store, attribution, attest, refusedCalls, limits } = deps
  const admit = openAdmission(deps)
  const { readBody, assertionOf } = openReading(deps)
  const common = {
    method: 'POST',
    tag: 'SDK',
    access: SDK,
    cors: true,
    around: refusedCalls.countRefusals,
    read_body: readBody,
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
        const assertion = await attest.checkCall(caller, assertionOf(event))
        const call = { caller, endpoint: 'identify', app_user_id: body.appUserId, assertion } as const
        const { verification } = await store.commit(() =>
          attest.accept(call, () => attribution.identify(caller, body, unattestedReason(event))),
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
        const assertion = await attest.checkCall(caller, assertionOf(event))
        const signed =
          body.jws === null ? null : await verifySigned(deps.verifier, caller.app, body, body.jws)
        const evidence = { signed, unattested: unattestedReason(event) }
        const call = { caller, endpoint: 'attribute', app_user_id: body.appUserId, assertion } as const
        const { link, moved } = await store.commit(() =>
          attest.accept(call, () => labelled(attribution.attribute(caller, body, evidence), evidence)),
        )
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

/** The result of an attribute call with the label of the link, which is the label of the call. */
const labelled = <Result extends { link: { verification: Verification } }>(
  result: Result,
  { unattested }: { unattested: string | null },
) => ({ ...result, verification: result.link.verification, unattested })

/** Reads bodies, and hashes those that came with an assertion, which signs the bytes. */
function openReading({ store, refusedCalls, limits }: Deps) {
  const assertions = new WeakMap<H3Event, SentAssertion>()

  async function readBody(event: H3Event): Promise<unknown> {
    store.assertFreeSpace()
    const text = header(event, 'x-windfall-assertion')
    const hash = (body: Uint8Array): void => {
      if (text === undefined) return
      assertions.set(event, { text, client_data_hash: clientDataHash(event.url.pathname, body) })
    }
    const body = await readJson(event, limits.sdk_body_bytes, 'reserved', hash)
    return refusedCalls.noteClaim(event, body)
  }

  const assertionOf = (event: H3Event): SentAssertion | null => assertions.get(event) ?? null

  return { readBody, assertionOf }
}

/**
 * Returns a function that resolves the caller and applies the rate limits. Each organization has a rate window, in
 * which each device has a share. Calls without a known organization share a rate window by client address.
 */
function openAdmission({ callers, callerMemory, limits, monotonic, http }: Deps) {
  const organizations = openFairWindow(() => limits.sdk_requests_per_minute, monotonic, callerMemory)
  const addresses = openWindow('address', () => limits.anonymous_requests_per_minute, monotonic)
  const devices = openWindow('device', () => DEVICE_CALLS_A_MINUTE, monotonic)

  return function admit(event: H3Event, claim: Omit<Claim, 'authorization'>): Caller {
    const caller = identifyCaller(event, claim)
    const { app, credential, device } = caller
    if (isProved(credential)) http.calls.noteProof(event)
    if (device !== null) devices.admit(device.id)
    organizations.admit(app.organization_id, {
      client: clientOf(event),
      isProved: isProved(credential),
      isExempt: credential === 'secret',
    })
    return caller
  }

  function identifyCaller(event: H3Event, claim: Omit<Claim, 'authorization'>): Caller {
    try {
      return callers.resolve({ ...claim, authorization: header(event, 'authorization') ?? null })
    } catch (error) {
      if (error instanceof Refusal) addresses.admit(clientOf(event).address)
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
