import { beforeAll, describe, expect, test } from 'vitest'
import { openVerifier, SignatureError } from '../../src/apple/jws/signed.ts'
import { type Notification, verifyNotification, verifyTransaction } from '../../src/apple/notification.ts'
import { type Authority, openAuthority } from '../../src/demo/signing/authority.ts'
import { Refusal } from '../../src/errors.ts'
import {
  APPLE_ID,
  appTransactionPayload,
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  renewedPayload,
  transactionPayload,
} from './samples.ts'

type Fields = Record<string, unknown>

let authority: Authority
let stranger: Authority
beforeAll(async () => {
  authority = await openAuthority({ now: NOW })
  stranger = await openAuthority({ now: NOW })
})

const verifier = (roots = [authority.root_pem]) => openVerifier({ roots, clock: () => NOW })
const notified = async (payload: Fields): Promise<Notification> =>
  (await verifyNotification(verifier(), authority.sign(payload))).payload
const withData = (data: Fields, outer: Fields = {}) => notified(outerPayload(dataBody(data), outer))

/** Returns the code with which a payload is refused. */
async function fault(payload: Fields): Promise<string> {
  const error = await notified(payload).catch((thrown: unknown) => thrown)
  if (error instanceof SignatureError || error instanceof Refusal) return error.code
  throw new Error(`the payload was not refused: ${JSON.stringify(error)}`)
}

describe('a notification', () => {
  test('is verified with both signed payloads in it, and converted', async () => {
    const signed = authority.sign(renewedPayload(authority, { outer: { subtype: 'BILLING_RECOVERY' } }))
    const proved = await verifyNotification(verifier(), signed)
    expect(proved).toMatchObject({ jws: signed, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(proved.payload).toMatchObject({
      uuid: '002e14d5-51f5-4503-b5a8-c3a1af68eb20',
      type: 'DID_RENEW',
      subtype: 'BILLING_RECOVERY',
      signed_at: NOW,
      bundle_id: BUNDLE,
      apple_id: APPLE_ID,
      environment: 'production',
      status: 1,
      transaction: {
        payload: { transaction_id: '2000000000000002', price_milli: 4990, environment: 'production' },
      },
      renewal: { payload: { original_transaction_id: '2000000000000001', auto_renew: true } },
      detail: {},
      problem: null,
    })
  })

  test('is accepted with an unknown type, an unknown subtype and unknown fields', async () => {
    const unknown = {
      notificationType: 'SOLAR_ECLIPSE',
      subtype: 'PARTIAL',
      version: '3.0',
      moon: { phase: 1 },
    }
    expect(await withData({ shade: [1, 2] }, unknown)).toMatchObject({
      type: 'SOLAR_ECLIPSE',
      subtype: 'PARTIAL',
      transaction: null,
      renewal: null,
      problem: null,
    })
  })

  test('of type TEST has no signed payloads, and in the sandbox no Apple id', async () => {
    const payload = await withData(
      { environment: 'Sandbox', appAppleId: undefined, status: undefined },
      { notificationType: 'TEST' },
    )
    expect(payload).toMatchObject({ type: 'TEST', environment: 'sandbox', apple_id: null, status: null })
  })

  test('without a date has the date of the payload in it', async () => {
    const signedTransactionInfo = authority.sign(transactionPayload({ signedDate: NOW - 5 }))
    const signedRenewalInfo = authority.sign(renewalPayload({ signedDate: NOW - 7 }))
    const undated = { signedDate: undefined }
    expect(await withData({ signedTransactionInfo, signedRenewalInfo }, undated)).toMatchObject({
      signed_at: NOW - 5,
    })
    expect(await withData({ signedRenewalInfo }, undated)).toMatchObject({ signed_at: NOW - 7 })
    expect(await withData({}, undated)).toMatchObject({ signed_at: null })
  })

  test('has the reason of a consumption request', async () => {
    expect(await withData({ consumptionRequestReason: 'LEGAL' })).toMatchObject({
      detail: { consumption_request_reason: 'LEGAL' },
    })
  })

  test('with a summary of extensions has its counts', async () => {
    const summary = {
      requestIdentifier: 'efb27071-45a4-4aca-9854-2a1e9146f265',
      environment: 'Production',
      appAppleId: APPLE_ID,
      bundleId: BUNDLE,
      productId: 'lantern.pro.monthly',
      storefrontCountryCodes: ['CAN', 'USA'],
      succeededCount: 5,
      failedCount: 2,
    }
    expect(await notified(outerPayload({ summary }))).toMatchObject({
      bundle_id: BUNDLE,
      apple_id: APPLE_ID,
      environment: 'production',
      detail: {
        request_id: 'efb27071-45a4-4aca-9854-2a1e9146f265',
        product_id: 'lantern.pro.monthly',
        storefronts: ['CAN', 'USA'],
        succeeded_count: 5,
        failed_count: 2,
      },
    })
  })

  test('of an external purchase token is a sandbox notification only if the token id says so', async () => {
    const token = (externalPurchaseId: string | undefined) =>
      notified(
        outerPayload({
          externalPurchaseToken: {
            externalPurchaseId,
            tokenCreationDate: NOW,
            tokenType: 'SERVICES',
            appAppleId: APPLE_ID,
            bundleId: BUNDLE,
          },
        }),
      )
    expect(await token('SANDBOX_b2158121')).toMatchObject({ environment: 'sandbox' })
    expect(await token('b2158121')).toMatchObject({
      environment: 'production',
      apple_id: APPLE_ID,
      detail: { external_purchase_id: 'b2158121', token_created_at: NOW, token_type: 'SERVICES' },
    })
    expect(await token(undefined)).toMatchObject({ environment: 'production' })
  })

  test('of rescinded consent is verified with its app transaction', async () => {
    const rescinded = (changes: Fields, signer = authority) =>
      outerPayload({
        appData: {
          appAppleId: APPLE_ID,
          bundleId: BUNDLE,
          environment: 'Production',
          signedAppTransactionInfo: signer.sign(appTransactionPayload(changes)),
        },
      })
    expect(await notified(rescinded({}))).toMatchObject({
      detail: { app_transaction_id: '704000000000000001', original_platform: 'iOS', receipt_created_at: NOW },
      problem: null,
    })
    expect(await fault(rescinded({ bundleId: 'com.example.other' }))).toBe('mismatch')
    expect(await fault(rescinded({ receiptType: 'Sandbox' }))).toBe('mismatch')
    expect(await fault(rescinded({}, stranger))).toBe('root')
    expect((await notified(rescinded({ receiptType: undefined }))).problem).toContain(
      'app transaction: receiptType',
    )
  })

  test('with an unknown body is read by the fields that all bodies share', async () => {
    const bundleId = BUNDLE
    expect(
      await notified(outerPayload({ giftData: { bundleId, environment: 'Sandbox', appAppleId: 7 } })),
    ).toMatchObject({ bundle_id: BUNDLE, environment: 'sandbox', apple_id: 7 })
    expect(await fault(outerPayload({ giftData: { bundleId } }))).toBe('environment')
    expect(await fault(outerPayload({}))).toBe('payload')
  })
})

describe('a verified field that cannot be read', () => {
  test('is named, and the other fields are read', async () => {
    const renewal = authority.sign(renewalPayload())
    const payload = await withData({
      signedTransactionInfo: authority.sign(transactionPayload({ productId: undefined, purchaseDate: 'x' })),
      signedRenewalInfo: renewal,
    })
    expect(payload.transaction).toBeNull()
    expect(payload.renewal?.jws).toBe(renewal)
    expect(payload.problem).toContain('transaction: productId')
    expect(payload.problem).toContain('purchaseDate')
    const other = await withData({
      signedRenewalInfo: authority.sign(renewalPayload({ signedDate: undefined })),
    })
    expect(other.renewal).toBeNull()
    expect(other.problem).toContain('renewal: signedDate')
  })

  test('is omitted if it is optional', async () => {
    const odd = { price: '4990', currency: '', appAccountToken: '', commitmentInfo: 'none', quantity: 1.5 }
    const signedTransactionInfo = authority.sign(transactionPayload(odd))
    const { transaction, problem } = await withData({ signedTransactionInfo })
    expect(transaction).toMatchObject({
      jws: signedTransactionInfo,
      payload: {
        price_milli: null,
        currency: null,
        app_account_token: null,
        quantity: 1,
        kind: expect.any(String),
      },
    })
    for (const field of Object.keys(odd)) expect(problem).toContain(`${field}: `)
    expect((await verifyTransaction(verifier(), signedTransactionInfo)).payload).toEqual(transaction?.payload)
  })

  test('is omitted in the outer payload, too', async () => {
    const signedTransactionInfo = authority.sign(transactionPayload())
    const payload = await withData(
      { status: 'active', appAppleId: '12', signedTransactionInfo },
      { subtype: 7, externalPurchaseToken: 'none' },
    )
    expect(payload).toMatchObject({ status: null, apple_id: null, subtype: null, bundle_id: BUNDLE })
    expect(payload.transaction).not.toBeNull()
    for (const field of ['data.status', 'data.appAppleId', 'subtype', 'externalPurchaseToken']) {
      expect(payload.problem).toContain(`${field}: `)
    }
  })

  test('refuses the notification if it identifies the notification or the app', async () => {
    expect(await fault(outerPayload(dataBody(), { notificationUUID: undefined }))).toBe('payload')
    expect(await fault(outerPayload(dataBody(), { notificationUUID: 12 }))).toBe('payload')
    expect(await fault(outerPayload(dataBody({ bundleId: undefined })))).toBe('payload')
    expect(await fault(outerPayload({ data: [] }))).toBe('payload')
    expect(await fault(outerPayload(dataBody({ environment: undefined })))).toBe('environment')
  })
})
