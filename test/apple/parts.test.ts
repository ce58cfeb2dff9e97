import { beforeAll, describe, expect, test } from 'vitest'
import { APPLE_ROOTS } from '../../src/apple/jws/roots.ts'
import { openVerifier, SignatureError } from '../../src/apple/jws/signed.ts'
import { type Notification, verifyNotification, verifyTransaction } from '../../src/apple/notification.ts'
import { type Authority, openAuthority } from '../../src/demo/signing/authority.ts'
import { Refusal } from '../../src/errors.ts'
import { nonEmpty } from '../non_empty.ts'
import {
  appTransactionPayload,
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  renewedPayload,
  transactionPayload,
} from './samples.ts'
import { haveVectors, listVectors, textOf } from './vectors.ts'

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

/** Returns the code with which a payload is refused. */
async function fault(payload: Fields): Promise<string> {
  const error = await notified(payload).catch((thrown: unknown) => thrown)
  if (error instanceof SignatureError || error instanceof Refusal) return error.code
  throw new Error(`the payload was not refused: ${JSON.stringify(error)}`)
}

describe('a notification with mismatched parts', () => {
  const mixed = async (transaction: Fields, renewal: Fields = {}, data: Fields = {}) =>
    fault(
      renewedPayload(authority, {
        data: {
          signedTransactionInfo: authority.sign(transactionPayload(transaction)),
          signedRenewalInfo: authority.sign(renewalPayload(renewal)),
          ...data,
        },
      }),
    )

  test('is refused: another app, environment or subscription', async () => {
    expect(await mixed({ bundleId: 'com.example.other' })).toBe('mismatch')
    expect(await mixed({ environment: 'Sandbox' })).toBe('mismatch')
    expect(await mixed({}, { environment: 'Sandbox' })).toBe('mismatch')
    expect(await mixed({}, { originalTransactionId: '2000000000000777' })).toBe('mismatch')
    expect(await mixed({}, {}, { environment: 'Sandbox' })).toBe('mismatch')
    expect(await mixed({}, {}, { bundleId: 'com.example.other' })).toBe('mismatch')
  })

  test('is refused also if a part has other unreadable fields', async () => {
    expect(await mixed({ bundleId: 'com.example.other', productId: undefined })).toBe('mismatch')
    expect(await mixed({ productId: undefined }, { originalTransactionId: 'x', signedDate: undefined })).toBe(
      'mismatch',
    )
  })

  test('is refused if a part has a foreign signature, is altered or is not signed', async () => {
    const inside = async (signedTransactionInfo: string) =>
      fault(renewedPayload(authority, { data: { signedTransactionInfo } }))
    const genuine = authority.sign(transactionPayload())
    expect(await inside(stranger.sign(transactionPayload()))).toBe('root')
    expect(await inside(genuine.replace(/[^.]+$/, Buffer.alloc(64, 1).toString('base64url')))).toBe(
      'signature',
    )
    expect(await inside('signed_transaction_info_value')).toBe('not_a_jws')
    expect(await inside('')).toBe('not_a_jws')
    expect(await inside(authority.sign(transactionPayload({ environment: 'Xcode' })))).toBe('xcode')
    expect(await inside(authority.sign(transactionPayload({ environment: 'Moon' })))).toBe('environment')
  })

  test('reports the first of several faults in a fixed order', async () => {
    const forged = authority
      .sign(transactionPayload())
      .replace(/[^.]+$/, Buffer.alloc(64, 1).toString('base64url'))
    const data = { signedTransactionInfo: forged, signedRenewalInfo: stranger.sign(renewalPayload()) }
    expect(await fault(renewedPayload(authority, { data }))).toBe('signature')
  })

  test('names the invalid part', async () => {
    const payload = renewedPayload(authority, {
      data: { signedRenewalInfo: stranger.sign(renewalPayload()) },
    })
    await expect(notified(payload)).rejects.toThrow('signedRenewalInfo: ')
  })
})

describe('a payload that is not a notification', () => {
  test.each<[string, Fields, string]>([
    ['a transaction', transactionPayload(), 'JWSTransaction'],
    ['renewal information', renewalPayload(), 'JWSRenewalInfo'],
    ['an app transaction', appTransactionPayload(), 'JWSAppTransaction'],
    ['anything else', { hello: 'there' }, 'something else'],
    ['a type that is no text', outerPayload(dataBody(), { notificationType: 5 }), 'something else'],
  ])('is refused with a hint: %s', async (_, payload, hint) => {
    const error = await notified(payload).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Refusal)
    expect(error).toMatchObject({ status: 400, code: 'not_a_notification' })
    expect(String(error)).toContain(hint)
  })

  test('is not read before its signature is verified', async () => {
    await expect(verifyNotification(verifier(), stranger.sign(transactionPayload()))).rejects.toMatchObject({
      code: 'root',
    })
  })

  test.each(['Xcode', 'LocalTesting'])('is refused from the environment %s', async (environment) => {
    expect(await fault(outerPayload(dataBody({ environment })))).toBe('xcode')
  })

  test('is refused from an unknown environment', async () => {
    expect(await fault(outerPayload(dataBody({ environment: 'Staging' })))).toBe('environment')
  })
})

describe('a signed transaction outside of a notification', () => {
  test('is verified and converted', async () => {
    const jws = authority.sign(transactionPayload())
    expect(await verifyTransaction(verifier(), jws)).toMatchObject({
      jws,
      payload: { transaction_id: '2000000000000002', bundle_id: BUNDLE, currency: 'USD', upgraded: false },
    })
  })

  test('is refused if it is another payload or lacks a required field', async () => {
    for (const payload of [
      renewalPayload(),
      outerPayload(dataBody()),
      transactionPayload({ bundleId: '' }),
    ]) {
      await expect(verifyTransaction(verifier(), authority.sign(payload))).rejects.toMatchObject({
        code: 'payload',
      })
    }
  })

  test('from Xcode’s local signer is refused as xcode', async () => {
    const { transactionId } = transactionPayload()
    const jws = authority.sign({ transactionId, environment: 'Xcode' })
    await expect(verifyTransaction(verifier(), jws)).rejects.toMatchObject({ code: 'xcode' })
  })
})

describe.skipIf(!haveVectors)('genuine texts', () => {
  const apple = () => openVerifier({ roots: APPLE_ROOTS, clock: () => NOW })

  test('are all read without a problem', async () => {
    for (const name of nonEmpty(
      listVectors('apple-signed/').filter((one) => one.startsWith('notification.')),
    )) {
      const { payload } = await verifyNotification(apple(), textOf(`apple-signed/${name}`))
      expect(payload).toMatchObject({ environment: 'sandbox', problem: null })
      expect(payload.transaction === null).toBe(payload.type === 'TEST')
      expect(payload.renewal === null).toBe(payload.type === 'TEST')
    }
  })

  test('of 2022 are read without the later fields', async () => {
    const name = 'apple-signed/transaction.2022-11-04110125.auto-renewable-subscription.jws'
    expect((await verifyTransaction(apple(), textOf(name))).payload).toMatchObject({
      transaction_id: '2000000184445477',
      price_milli: null,
      currency: null,
      signed_at: 1667559685499,
      offer_type: 1,
    })
  })

  test('of Xcode are refused as such, whatever they are', async () => {
    for (const name of ['app-transaction', 'renewal-info', 'transaction']) {
      await expect(
        verifyTransaction(apple(), textOf(`apple-library/xcode/xcode-signed-${name}`)),
      ).rejects.toMatchObject({ code: 'xcode' })
    }
  })

  test('that are receipts are no signed texts', async () => {
    const receipt = textOf('apple-library/xcode/xcode-app-receipt-with-transaction')
    await expect(verifyTransaction(apple(), receipt)).rejects.toThrow('app receipt')
  })
})
