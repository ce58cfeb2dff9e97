/** Mutated attestations and assertions: none is accepted, and none ends in anything but an AttestError. */
import { X509Certificate } from 'node:crypto'
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { expect, test } from 'vitest'
import { verifyAssertion } from '../../../src/apple/attest/assertion.ts'
import { AttestError } from '../../../src/apple/attest/attest_error.ts'
import { suggestedAppId, verifyAttestation } from '../../../src/apple/attest/attestation.ts'
import { readAttestedData } from '../../../src/apple/attest/authenticator_data.ts'
import { openDeviceAuthority } from '../../../src/demo/signing/devices.ts'
import { openRandom, type Random } from '../../../src/demo/world/random.ts'
import { sha256Of } from '../../../src/ids.ts'
import { isLong, seed } from '../../random.ts'
import { NOW } from '../samples.ts'

const HASH = sha256Of('challenge')
const APP_ID = 'A1B2C3D4E5.com.example.lantern'
const authority = openDeviceAuthority(NOW)
const roots = [new X509Certificate(authority.root_pem)]
const device = authority.device({ team_id: 'A1B2C3D4E5', bundle_id: 'com.example.lantern' })
const details = new Map([['apple_validation_category_01', Uint8Array.of(4, 0, 0, 0)]])
const attestation = device.attest(HASH, { details })
const object = decodeCBOR(new Uint8Array(attestation)) as Map<string, never>
const authData = Buffer.from(object.get('authData') as unknown as Uint8Array)
const statement = object.get('attStmt') as unknown as Map<string, Uint8Array[]>

/** One to three changes: a flipped bit, a byte, a cut, a repetition, an insertion. */
function mutated(bytes: Buffer, random: Random): Buffer {
  let result: Buffer = Buffer.from(bytes)
  for (let changes = random.whole(1, 3); changes > 0; changes -= 1) result = changed(result, random)
  return result
}

function changed(bytes: Buffer, random: Random): Buffer {
  const at = random.whole(0, Math.max(0, bytes.length - 1))
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (random.whole(0, 4)) {
    case 0:
      return Buffer.concat([
        before,
        Buffer.of((after[0] ?? 0) ^ (1 << random.whole(0, 7))),
        after.subarray(1),
      ])
    case 1:
      return Buffer.concat([before, Buffer.of(random.whole(0, 255)), after.subarray(1)])
    case 2:
      return Buffer.concat([before, after.subarray(random.whole(1, 40))])
    case 3:
      return Buffer.concat([before, after.subarray(0, random.whole(1, 40)), after])
    default:
      return Buffer.concat([before, Buffer.from(random.hex(2 * random.whole(1, 9)), 'hex'), after])
  }
}

/** Runs `verify`; true if it returns, false if it throws an AttestError. Any other error fails the test. */
function isAccepted(verify: () => unknown): boolean {
  try {
    verify()
    return true
  } catch (error) {
    if (error instanceof AttestError) return false
    throw error
  }
}

const verify = (bytes: Uint8Array) =>
  verifyAttestation(
    {
      attestation: bytes,
      key_id: Buffer.from(device.key_id, 'base64'),
      client_data_hash: HASH,
      app_id: APP_ID,
      accept: ['production', 'development'],
      at: NOW,
    },
    roots,
  )

/** The attestation with other certificates. */
function withCertificates(x5c: readonly Uint8Array[]): Uint8Array {
  const attStmt = new Map<string, never>([...(statement as Map<string, never>), ['x5c', x5c as never]])
  return encodeCBOR(new Map([...object, ['attStmt', attStmt as never]]))
}

/** Apple's signature covers neither the receipt nor the order of the keys. */
function isSameStatement(bytes: Uint8Array): boolean {
  const other = decodeCBOR(new Uint8Array(bytes)) as Map<string, never>
  const otherStatement = other.get('attStmt') as unknown as Map<string, Uint8Array[]>
  const certificates = (one: Map<string, Uint8Array[]>) =>
    (one.get('x5c') ?? []).map((der) => Buffer.from(der))
  return (
    authData.equals(Buffer.from(other.get('authData') as unknown as Uint8Array)) &&
    Buffer.concat(certificates(statement)).equals(Buffer.concat(certificates(otherStatement)))
  )
}

const TIMES = isLong ? 50 : 1

test(`${1_000 * TIMES} mutated attestations are not accepted (seed ${seed})`, { timeout: 3_600_000 }, () => {
  const random = openRandom(`attestations ${seed}`)
  expect(isAccepted(() => verify(attestation))).toBe(true)
  for (let n = 0; n < 1_000 * TIMES; n += 1) {
    const bytes = mutated(attestation, random)
    if (!bytes.equals(attestation) && isAccepted(() => verify(bytes)))
      expect(isSameStatement(bytes), bytes.toString('base64')).toBe(true)
  }
})

test(`${1_000 * TIMES} mutated certificates are not accepted (seed ${seed})`, { timeout: 3_600_000 }, () => {
  const random = openRandom(`certificates ${seed}`)
  const [leaf, intermediate] = (statement.get('x5c') ?? []).map((der) => Buffer.from(der))
  if (!leaf || !intermediate) throw new Error('the attestation has two certificates')
  for (let n = 0; n < 1_000 * TIMES; n += 1) {
    const bytes = mutated(n % 2 === 0 ? leaf : intermediate, random)
    if (bytes.equals(leaf) || bytes.equals(intermediate)) continue
    const x5c = (n % 2 === 0 ? [bytes, intermediate] : [leaf, bytes]).map((der) => new Uint8Array(der))
    const mutation = withCertificates(x5c)
    expect(
      isAccepted(() => verify(mutation)),
      bytes.toString('base64'),
    ).toBe(false)
    expect(suggestedAppId(mutation, roots, NOW)).toBeNull()
  }
})

test(`${9_000 * TIMES} mutations of authenticator data end in time (seed ${seed})`, {
  timeout: 3_600_000,
}, () => {
  const random = openRandom(`data ${seed}`)
  let accepted = 0
  for (let n = 0; n < 9_000 * TIMES; n += 1)
    accepted += Number(isAccepted(() => readAttestedData(mutated(authData, random))))
  // A changed hash or coordinate still has the form of the data.
  expect(accepted).toBeGreaterThan(0)
})

test(`${9_000 * TIMES} mutated assertions are not accepted (seed ${seed})`, { timeout: 3_600_000 }, () => {
  const random = openRandom(`assertions ${seed}`)
  const { public_key } = verify(attestation)
  const assertion = device.assertAt(3, 'the request', details)
  const claim = { client_data_hash: sha256Of('the request'), public_key, app_id: APP_ID }
  expect(verifyAssertion({ ...claim, assertion })).toBe(3)
  for (let n = 0; n < 9_000 * TIMES; n += 1) {
    const bytes = mutated(assertion, random)
    // Only further keys beside the two may differ.
    if (isAccepted(() => verifyAssertion({ ...claim, assertion: bytes })))
      expect(signedPartsOf(bytes), bytes.toString('base64')).toEqual(signedPartsOf(assertion))
  }
})

function signedPartsOf(bytes: Uint8Array): unknown[] {
  const parts = decodeCBOR(new Uint8Array(bytes)) as Map<string, never>
  return [parts.get('signature'), parts.get('authenticatorData')]
}
