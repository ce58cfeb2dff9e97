/** Attestations and assertions of App Attest: genuine ones at their own dates, and simulated ones with one fault each. */
import { X509Certificate } from 'node:crypto'
import { CBORTag, type CBORType, decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { describe, expect, test } from 'vitest'
import { verifyAssertion } from '../../../src/apple/attest/assertion.ts'
import { AttestError } from '../../../src/apple/attest/attest_error.ts'
import {
  type AttestationClaim,
  suggestedAppId,
  verifyAttestation,
} from '../../../src/apple/attest/attestation.ts'
import { APP_ATTEST_ROOTS } from '../../../src/apple/attest/roots.ts'
import { openDeviceAuthority } from '../../../src/demo/signing/devices.ts'
import { sha256Of } from '../../../src/ids.ts'
import { NOW } from '../samples.ts'
import { haveVectors, listVectors, textOf } from '../vectors.ts'

const DAY = 86_400_000
const HASH = sha256Of('challenge')
const APP = { team_id: 'A1B2C3D4E5', bundle_id: 'com.example.lantern' }
const APP_ID = 'A1B2C3D4E5.com.example.lantern'
const authority = openDeviceAuthority(NOW)
const ROOTS = [new X509Certificate(authority.root_pem)]
const APPLE = APP_ATTEST_ROOTS.map((pem) => new X509Certificate(pem))

type Changes = Parameters<ReturnType<typeof authority.device>['attest']>[1]

/** What `verifyAttestation` throws: the step, or nothing. */
function stepOf(verify: () => unknown): string | null {
  try {
    verify()
    return null
  } catch (error) {
    if (error instanceof AttestError) return error.step
    throw error
  }
}

function claimed(changes: Changes = {}, over: Partial<AttestationClaim> = {}) {
  const device = authority.device(APP)
  const claim: AttestationClaim = {
    attestation: device.attest(HASH, changes),
    key_id: Buffer.from(device.key_id, 'base64'),
    client_data_hash: HASH,
    app_id: APP_ID,
    accept: ['production'],
    at: NOW,
    ...over,
  }
  return claim
}

const verified = (claim: AttestationClaim) => verifyAttestation(claim, ROOTS)
const IOS_27 = new Map<string, string | Uint8Array>([
  ['apple_bundle_version_01', '412'],
  ['apple_validation_category_01', Uint8Array.of(4, 0, 0, 0)],
  ['apple_something_else_01', Uint8Array.of(1, 2)],
])

test('an attestation returns the key, and what Apple states about the device and the app', () => {
  const before27 = verified(claimed())
  expect(before27).toMatchObject({
    environment: 'production',
    os_version: '27.0',
    details: { category: null, bundle_version: null, other: {} },
  })
  expect(before27.public_key).toHaveLength(65)
  expect(before27.receipt.length).toBeGreaterThan(0)
  const { details } = verified(claimed({ details: IOS_27 }))
  expect(details).toEqual({ category: 4, bundle_version: '412', other: { apple_something_else_01: '0102' } })
  const withTag = verified(claimed({ trailing: mapOf(tagged(1, 'text')) }))
  expect(withTag.details.other).toEqual({ a: 'text' })
})

test('development is accepted only by choice', () => {
  const development: Changes = { environment: 'development' }
  expect(stepOf(() => verified(claimed(development)))).toBe('environment')
  const accept = ['production', 'development'] as const
  expect(verified(claimed(development, { accept })).environment).toBe('development')
  expect(stepOf(() => verified(claimed({}, { accept: ['development'] })))).toBe('environment')
  const category3 = new Map([['apple_validation_category_01', Uint8Array.of(3, 0, 0, 0)]])
  expect(verified(claimed({ ...development, details: category3 }, { accept })).details.category).toBe(3)
})

const foreign = openDeviceAuthority(NOW)
const sized = (bytes: number) => encodeCBOR(new Map([['a', 'x'.repeat(bytes)]]))
const nested = new Map([['a', [[[[1]]]]]])
const tagged = (levels: number, value: CBORType): CBORType =>
  levels === 0 ? value : new CBORTag(1, tagged(levels - 1, value))
const mapOf = (value: CBORType) => encodeCBOR(new Map([['a', value]]))

/** The claim with its authenticator data cut by `bytes` at the end. */
function cut(claim: AttestationClaim, bytes: number): AttestationClaim {
  const object = decodeCBOR(new Uint8Array(claim.attestation)) as Map<string, CBORType>
  const data = object.get('authData') as Uint8Array
  return { ...claim, attestation: encodeCBOR(new Map([...object, ['authData', data.slice(0, -bytes)]])) }
}
const cose = (entries: [number, number | Uint8Array][]): Map<number, number | Uint8Array> => new Map(entries)
const XY: [number, Uint8Array][] = [
  [-2, new Uint8Array(32)],
  [-3, new Uint8Array(32)],
]

const REFUSED: [string, string, () => AttestationClaim][] = [
  ['another root', 'chain', () => ({ ...claimed(), attestation: foreign.device(APP).attest(HASH) })],
  ['an expired certificate', 'chain', () => claimed({}, { at: NOW + 4 * DAY })],
  ['a certificate that is not valid yet', 'chain', () => claimed({ valid_from: NOW + DAY })],
  ['a leaf on P-384', 'chain', () => claimed({ leaf_curve: 'P-384' })],
  ['another challenge', 'nonce', () => claimed({}, { client_data_hash: sha256Of('another') })],
  [
    'a nonce in another form',
    'nonce',
    () => claimed({ nonce_extension: Buffer.from('300604047f7f7f7f', 'hex') }),
  ],
  ['the id of another key', 'key_id', () => claimed({}, { key_id: sha256Of('another') })],
  ['another app', 'app_id', () => claimed({}, { app_id: 'A1B2C3D4E5.com.example.other' })],
  ['another prefix', 'app_id', () => claimed({}, { app_id: 'ZZZZZZZZZZ.com.example.lantern' })],
  ['a counter', 'counter', () => claimed({ counter: 1 })],
  ['an unknown environment', 'environment', () => claimed({ aaguid: 'appattestsomeone' })],
  ['another credential id', 'credential_id', () => claimed({ credential_id: sha256Of('another') })],
  ['another public key', 'public_key', () => claimed({ cose_key: cose([[1, 2], [3, -7], [-1, 1], ...XY]) })],
  [
    'a development build in production',
    'category',
    () => claimed({ details: new Map([['apple_validation_category_01', Uint8Array.of(3, 0, 0, 0)]]) }),
  ],
  [
    'an enterprise build in production',
    'category',
    () => claimed({ details: new Map([['apple_validation_category_01', Uint8Array.of(5, 0, 0, 0)]]) }),
  ],
  ['other flags', 'format', () => claimed({ flags: 0xc0 })],
  ['a trailing byte', 'format', () => claimed({ trailing: Uint8Array.of(0) })],
  ['two maps', 'format', () => claimed({ trailing: Buffer.concat([sized(3), sized(3)]) })],
  ['a huge map', 'format', () => claimed({ trailing: sized(2_000) })],
  ['a deeply nested map', 'format', () => claimed({ trailing: encodeCBOR(nested) })],
  ['deeply nested tags', 'format', () => claimed({ trailing: mapOf(tagged(5, 1)) })],
  ['a public key that is cut', 'format', () => cut(claimed(), 10)],
  ['a map that is cut', 'format', () => cut(claimed({ details: IOS_27 }), 1)],
  ['a map of indefinite length', 'format', () => claimed({ trailing: Buffer.from('bf616101ff', 'hex') })],
  ['a repeated key', 'format', () => claimed({ trailing: Buffer.from('a2616101616102', 'hex') })],
  ['a longer credential id', 'format', () => claimed({ credential_id: new Uint8Array(33) })],
  [
    'a key with a further field',
    'format',
    () => claimed({ cose_key: cose([[1, 2], [3, -7], [-1, 1], [4, 1], ...XY]) }),
  ],
  ['a key on another curve', 'format', () => claimed({ cose_key: cose([[1, 2], [3, -7], [-1, 2], ...XY]) })],
  ['nothing', 'format', () => claimed({}, { attestation: new Uint8Array() })],
  ['more than 16 kB', 'format', () => claimed({}, { attestation: new Uint8Array(20_000) })],
  ['50,000 nested arrays', 'format', () => claimed({}, { attestation: Buffer.alloc(16_000, 0x81) })],
  ['another format', 'format', () => claimed({}, { attestation: encodeCBOR(new Map([['fmt', 'packed']])) })],
  [
    'bytes after the object',
    'format',
    () => {
      const claim = claimed()
      return { ...claim, attestation: Buffer.concat([claim.attestation, Buffer.of(0)]) }
    },
  ],
]

test.each(REFUSED)('%s is refused at the step %s', (_, step, claim) => {
  expect(stepOf(() => verified(claim()))).toBe(step)
})

test('the certificate suggests the id of the app, only under a pinned root', () => {
  expect(suggestedAppId(claimed().attestation, ROOTS, NOW)).toBe(APP_ID)
  expect(suggestedAppId(claimed().attestation, APPLE, NOW)).toBeNull()
  expect(suggestedAppId(new Uint8Array(3), ROOTS, NOW)).toBeNull()
})

describe('assertions', () => {
  const device = authority.device(APP)
  const { public_key } = verified({
    attestation: device.attest(HASH),
    key_id: Buffer.from(device.key_id, 'base64'),
    client_data_hash: HASH,
    app_id: APP_ID,
    accept: ['production'],
    at: NOW,
  })
  const verify = (assertion: Uint8Array, client_data = 'the request', app_id = APP_ID) =>
    verifyAssertion({ assertion, client_data_hash: sha256Of(client_data), public_key, app_id })

  test('an assertion proves the request, with and without the map of iOS 27', () => {
    expect(verify(device.assertAt(7, 'the request'))).toBe(7)
    expect(verify(device.assertAt(8, 'the request', IOS_27))).toBe(8)
    expect(verify(device.assertAt(0xff_ff_ff_ff, 'the request'))).toBe(0xff_ff_ff_ff)
  })

  test('another request, key, app or form is refused', () => {
    expect(stepOf(() => verify(device.assertAt(1, 'another request')))).toBe('signature')
    expect(stepOf(() => verify(authority.device(APP).assertAt(1, 'the request')))).toBe('signature')
    expect(stepOf(() => verify(device.assertAt(1, 'the request'), 'the request', 'A.b'))).toBe('app_id')
    expect(stepOf(() => verify(device.assertAt(0, 'the request')))).toBe('counter')
    const assertion = device.assertAt(1, 'the request')
    expect(stepOf(() => verify(Buffer.concat([assertion, Buffer.of(0)])))).toBe('format')
    expect(stepOf(() => verify(new Uint8Array(5_000)))).toBe('format')
    expect(stepOf(() => verify(encodeCBOR(new Map([['signature', new Uint8Array(8)]]))))).toBe('format')
    const short = new Map([
      ['signature', new Uint8Array(8)],
      ['authenticatorData', new Uint8Array(36)],
    ])
    expect(stepOf(() => verify(encodeCBOR(short)))).toBe('format')
  })
})

type Vector = {
  name: string
  teamId: string
  bundleId: string
  environment: 'production' | 'development'
  attestation: {
    attestationBase64: string
    keyIdBase64: string
    clientDataBase64: string
    createdAt: string | null
  }
  assertions?: { assertionBase64: string; clientDataBase64: string; counter: number }[]
}

describe.skipIf(!haveVectors)('genuine vectors', () => {
  const files = haveVectors ? listVectors('app-attest/') : []
  const read = (file: string): Vector => JSON.parse(textOf(`app-attest/${file}`))

  function claimOf({ name, teamId, bundleId, environment, attestation }: Vector): AttestationClaim {
    const clientData = Buffer.from(attestation.clientDataBase64, 'base64')
    const made = attestation.createdAt ?? '2024-02-04'
    return {
      attestation: Buffer.from(attestation.attestationBase64, 'base64'),
      key_id: Buffer.from(attestation.keyIdBase64, 'base64'),
      // Apple's guide uses the challenge itself as the hash.
      client_data_hash: name === 'apple-validation-guide' ? clientData : sha256Of(clientData),
      app_id: `${teamId}.${bundleId}`,
      accept: [environment],
      at: Date.parse(made),
    }
  }

  test.each(files)('%s is verified at its own date, and at no other', (file) => {
    const vector = read(file)
    const claim = claimOf(vector)
    const attested = verifyAttestation(claim, APPLE)
    expect(attested.environment).toBe(vector.environment)
    expect(attested.os_version).toMatch(/^\d+(\.\d+)+$/)
    expect(suggestedAppId(claim.attestation, APPLE, claim.at)).toBe(claim.app_id)
    expect(stepOf(() => verifyAttestation({ ...claim, at: NOW }, APPLE))).toBe('chain')
    expect(stepOf(() => verifyAttestation(claim, ROOTS))).toBe('chain')
    const { public_key } = attested
    for (const { assertionBase64, clientDataBase64, counter } of vector.assertions ?? []) {
      const assertion = Buffer.from(assertionBase64, 'base64')
      const clientData = Buffer.from(clientDataBase64, 'base64')
      const common = { assertion, public_key, app_id: claim.app_id }
      expect(verifyAssertion({ ...common, client_data_hash: sha256Of(clientData) })).toBe(counter)
      expect(stepOf(() => verifyAssertion({ ...common, client_data_hash: sha256Of('x') }))).toBe('signature')
    }
  })
})
