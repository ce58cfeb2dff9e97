import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { AppleFault } from '../../../src/apple/api/faults.ts'
import { problemOfKey } from '../../../src/apple/api/keys.ts'
import { openTokens } from '../../../src/apple/api/tokens.ts'
import { NO_KEYS } from '../../config/keys.ts'
import { handClock } from '../../helpers.ts'
import { BUNDLE, NOW } from '../samples.ts'
import { newKey } from './scripted.ts'

const MINUTE = 60_000
const pemOf = (curve: string, type: 'pkcs8' | 'sec1' = 'pkcs8') =>
  generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ type, format: 'pem' }).toString()
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })

describe('a private key', () => {
  test('in Apple’s format is valid, with or without line breaks around it', () => {
    const pem = pemOf('P-256')
    expect(problemOfKey(pem)).toBeNull()
    expect(problemOfKey(`\n${pem}\n`)).toBeNull()
    expect(problemOfKey(pem.replaceAll('\n', '\r\n'))).toBeNull()
  })

  test.each<[what: string, pem: string, words: string]>([
    ['nothing', '', 'not a private key in PEM'],
    ['a path', '/keys/AuthKey_ABC.p8', 'not a private key in PEM'],
    ['a key with words before it', `Our key: ${pemOf('P-256')}`, 'does not begin with'],
    ['another curve', pemOf('P-384'), 'uses the curve secp384r1'],
    ['an older wrapping', pemOf('P-256', 'sec1'), 'SEC 1'],
    [
      'RSA in PKCS #8',
      rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'another kind (rsa)',
    ],
    ['RSA in PKCS #1', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(), 'an RSA key'],
    ['a public key', pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'a public key'],
    [
      'one with a password',
      pair.privateKey
        .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' })
        .toString(),
      'with a password',
    ],
    ['one cut short', pemOf('P-256').slice(0, 90), 'damaged'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'a certificate'],
  ])('is refused if it is %s', (_, pem, words) => {
    const problem = problemOfKey(pem) ?? ''
    expect(problem).toContain(words)
    expect(problem).toContain(words === 'damaged' ? 'whole' : '.p8')
    const [, secret = 'nothing'] = pem.split('\n')
    expect(problem).not.toContain(secret)
  })
})

test.each(NO_KEYS)('refuses a key that the config file refuses (%s)', (_, pem) => {
  expect(problemOfKey(pem)).not.toBeNull()
})

describe('a token', () => {
  test('for App Store Connect is signed with ES256, names issuer and key, and lasts less than 20 minutes', async () => {
    const clock = handClock()
    const key = newKey()
    const token = await openTokens(key, { clock })()
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid: key.key_id, typ: 'JWT' })
    const claims = decodeJwt(token)
    expect(claims).toEqual({
      iss: key.issuer_id,
      aud: 'appstoreconnect-v1',
      iat: NOW / 1000,
      exp: expect.any(Number),
    })
    expect((claims.exp ?? 0) - NOW / 1000).toBeGreaterThan(10 * 60)
    expect((claims.exp ?? 0) - NOW / 1000).toBeLessThan(20 * 60)
    const spki = createPublicKey(key.private_key).export({ type: 'spki', format: 'pem' }).toString()
    await jwtVerify(token, await importSPKI(spki, 'ES256'), { currentDate: new Date(NOW) })
  })

  test('of an individual key has sub "user" instead of an issuer', async () => {
    const token = await openTokens(newKey({ issuer_id: null }), { clock: handClock() })()
    expect(decodeJwt(token)).toMatchObject({ sub: 'user', aud: 'appstoreconnect-v1' })
    expect(decodeJwt(token)).not.toHaveProperty('iss')
  })

  test('for the Server API names the app and lasts less than 60 minutes', async () => {
    const token = await openTokens(newKey(), { clock: handClock(), bundle_id: BUNDLE })()
    const { bid, exp = 0, iat = 0 } = decodeJwt(token)
    expect(bid).toBe(BUNDLE)
    expect(exp - iat).toBeLessThanOrEqual(60 * 60)
  })

  test('is reused until shortly before its expiry, and renewed then, on demand, and when the clock is set back', async () => {
    const clock = handClock()
    const token = openTokens(newKey(), { clock })
    const [first, second] = await Promise.all([token(), token()])
    expect(second).toBe(first)
    clock.turn(15 * MINUTE)
    expect(await token()).toBe(first)
    clock.turn(2 * MINUTE)
    const later = await token()
    expect(later).not.toBe(first)
    expect(decodeJwt(later).iat).toBe((NOW + 17 * MINUTE) / 1000)
    const forced = await token({ isForced: true })
    expect(forced).not.toBe(later)
    expect(await token()).toBe(forced)
    clock.turn(-60 * MINUTE)
    expect(decodeJwt(await token()).iat).toBe((NOW - 43 * MINUTE) / 1000)
  })

  test('of an invalid key is refused with a message that does not show the key', async () => {
    const private_key = pemOf('P-384')
    const token = openTokens(newKey({ private_key }), { clock: handClock() })
    const fault = await token().catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(AppleFault)
    expect(fault).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('P-256') })
    expect(String(fault)).not.toContain(private_key.split('\n')[1])
  })
})
