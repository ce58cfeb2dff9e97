import { createHmac, createPublicKey, sign, X509Certificate } from 'node:crypto'
import { compactVerify, importX509 } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { APPLE_ROOTS } from '../../../src/apple/jws/roots.ts'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import {
  type Authority,
  headerOf,
  issueChain,
  openAuthority,
  signUnder,
} from '../../../src/demo/signing/authority.ts'
import { verdictUnder, verifierOf } from '../refusals.ts'
import { NOW, transactionPayload } from '../samples.ts'
import { haveVectors, listVectors, textOf } from '../vectors.ts'

let authority: Authority
beforeAll(async () => {
  authority = await openAuthority({ now: NOW })
})

const verdict = (jws: string) => verdictUnder(authority, jws)
const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Signs `payload`, which need not be JSON, with a genuine header. */
function signBytes(payload: Buffer): string {
  const text = `${encode(headerOf(authority))}.${payload.toString('base64url')}`
  const signature = sign('sha256', Buffer.from(text), { key: authority.leaf_key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

describe('a verified payload', () => {
  test('has the payload, the unchanged text and its hash', async () => {
    const jws = authority.sign({ signedDate: NOW, hello: 'wörld' })
    const proved = await verifierOf(authority).verify(jws)
    expect(proved.payload).toEqual({ signedDate: NOW, hello: 'wörld' })
    expect(proved.jws).toBe(jws)
    expect(proved.sha256).toMatch(/^[0-9a-f]{64}$/)
  })

  test('has the same hash under the other valid ECDSA signature, which can be derived from the first', async () => {
    const jws = authority.sign({ signedDate: NOW, hello: 'wörld' })
    const [header, payload, signature] = jws.split('.')
    const bytes = Buffer.from(signature ?? '', 'base64url')
    const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
    const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
    const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
    const twin = [header, payload, other.toString('base64url')].join('.')
    const verifier = verifierOf(authority)
    expect(twin).not.toBe(jws)
    expect((await verifier.verify(twin)).sha256).toBe((await verifier.verify(jws)).sha256)
  })

  test('is accepted by the library jose, too', async () => {
    const jws = authority.sign({ signedDate: NOW })
    const key = await importX509(new X509Certificate(authority.chain[0] ?? '').toString(), 'ES256')
    const { payload } = await compactVerify(jws, key, { algorithms: ['ES256'] })
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual(
      (await verifierOf(authority).verify(jws)).payload,
    )
  })

  test('is returned for each of many concurrent verifications', async () => {
    const verifier = openVerifier({ roots: [authority.root_pem], clock: () => NOW, in_flight: 5 })
    const texts = Array.from({ length: 40 }, (_, index) => authority.sign({ index }))
    const proved = await Promise.all(texts.map(verifier.verify))
    expect(proved.map((one) => one.payload.index)).toEqual(texts.map((_, index) => index))
  })

  test('is refused with 503 when the queue is full', async () => {
    const verifier = openVerifier({ roots: [authority.root_pem], clock: () => NOW, in_flight: 1 })
    const jws = authority.sign({})
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => verifier.verify(jws)))
    const refused = all.filter((one) => one.status === 'rejected').map((one) => one.reason)
    expect(refused).toHaveLength(40 - 9)
    expect(refused[0]).toMatchObject({ status: 503, code: 'busy', headers: { 'retry-after': '1' } })
    expect(await verifier.verify(jws)).toMatchObject({ jws })
  })

  test('with __proto__ in it changes no prototype', async () => {
    const jws = signBytes(
      Buffer.from('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'),
    )
    const { payload } = await verifierOf(authority).verify(jws)
    expect(Object.getPrototypeOf(payload)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
    expect(payload.admin).toBeUndefined()
  })

  test.skipIf(!haveVectors)(
    'is every genuine text of Apple’s, also years after its leaf expired',
    async () => {
      const verifier = openVerifier({ roots: APPLE_ROOTS, clock: () => Date.UTC(2035, 0) })
      const files = listVectors('apple-signed/').filter((name) => name.endsWith('.jws'))
      expect(files.length).toBeGreaterThan(7)
      for (const name of files) {
        expect((await verifier.verify(textOf(`apple-signed/${name}`))).payload).toHaveProperty('signedDate')
      }
    },
  )
})

describe('a text that is not a JWS', () => {
  const refused: [name: string, make: (jws: string) => string][] = [
    ['nothing', () => ''],
    ['one part', (jws) => jws.replaceAll('.', '')],
    ['two parts', (jws) => jws.split('.').slice(0, 2).join('.')],
    ['two parts and a dot', (jws) => `${jws.split('.').slice(0, 2).join('.')}.`],
    ['an empty payload', (jws) => jws.replace(/\.[^.]+\./, '..')],
    ['an empty header', (jws) => jws.slice(jws.indexOf('.'))],
    ['four parts', (jws) => `${jws}.e30`],
    ['a dot at the end', (jws) => `${jws}.`],
    ['only dots', () => '.'.repeat(1_000_000)],
    ['white space around it', (jws) => ` ${jws}`],
    ['a line break at its end', (jws) => `${jws}\n`],
    ['padding', (jws) => `${jws}==`],
    ['padding inside', (jws) => jws.replace(/\.(?=[^.]+$)/, '==.')],
    ['white space inside', (jws) => jws.replace(/\.(?=[^.]+$)/, '\n.')],
    ['a payload one letter too long', (jws) => jws.replace(/\.[^.]+\./, '.AAAAA.')],
    ['the other base64 alphabet', (jws) => jws.replace(/[^.]+$/, (part) => `+/${part.slice(2)}`)],
    ['stray bits in its last character', (jws) => jws.replace(/.$/, (last) => (last === 'B' ? 'C' : 'B'))],
    ['letters beyond ASCII', (jws) => jws.replace('.', '.é')],
    ['JSON', () => '{"signedPayload":"…"}'],
    ['an app receipt', () => 'MIIUIQYJKoZIhvcNAQcCoIIUEjCCFA4CAQExDzANBglghkgBZQMEAgEFADCCA1cG'],
  ]
  test.each(refused)('%s', async (_, make) => {
    expect(await verdict(make(authority.sign(transactionPayload())))).toBe('not_a_jws')
  })

  test('is refused with a message that says what to send', async () => {
    const two = encode({ transactionId: '1' })
    await expect(verifierOf(authority).verify(two)).rejects.toThrow('send jwsRepresentation')
    await expect(verifierOf(authority).verify('{}')).rejects.toThrow('plain JSON')
    await expect(verifierOf(authority).verify('a.b')).rejects.toThrow('got 2')
    await expect(verifierOf(authority).verify('a.b.c.d')).rejects.toThrow('got 4')
  })
})

describe('the header', () => {
  const jwsUnder = (header: object) => signUnder(header, transactionPayload(), authority.leaf_key)
  const withHeader = (change: object) => jwsUnder({ ...headerOf(authority), ...change })

  test.each(['none', 'HS256', 'RS256', 'ES384', 'ES512', 'EdDSA', 'es256', '', null, ['ES256'], undefined])(
    'with the algorithm %j is refused',
    async (alg) => {
      expect(await verdict(withHeader({ alg }))).toBe('algorithm')
    },
  )

  test('with an HMAC signature made with the public key is refused', async () => {
    const text = `${encode({ ...headerOf(authority), alg: 'HS256' })}.${encode(transactionPayload())}`
    const secret = createPublicKey(authority.leaf_key).export({ type: 'spki', format: 'pem' })
    const forged = `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    expect(await verdict(forged)).toBe('algorithm')
  })

  test('may have unknown fields', async () => {
    expect(await verdict(withHeader({ typ: 'JWT', kid: 'anything' }))).toEqual(transactionPayload())
  })

  test('must be a JSON object, within the limits and without crit', async () => {
    expect(await verdict(withHeader({ crit: ['b64'], b64: false }))).toBe('header')
    expect(await verdict(withHeader({ padding: 'x'.repeat(40_000) }))).toBe('header')
    expect(await verdict('W10.e30.AAAA')).toBe('header')
    expect(await verdict(`${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.e30.AAAA`)).toBe('header')
  })

  test('must have exactly three certificates', async () => {
    const { x5c } = headerOf(authority)
    expect(await verdict(withHeader({ x5c: [] }))).toBe('chain_length')
    expect(await verdict(withHeader({ x5c: x5c.slice(0, 2) }))).toBe('chain_length')
    expect(await verdict(withHeader({ x5c: [...x5c, ...x5c] }))).toBe('chain_length')
    expect(await verdict(withHeader({ x5c: undefined }))).toBe('chain_length')
    expect(await verdict(withHeader({ x5c: x5c.join() }))).toBe('chain_length')
    expect(await verdict(withHeader({ x5c: [1, 2, 3] }))).toBe('chain')
  })

  test('with the single certificate of Xcode is refused as xcode', async () => {
    expect(await verdict(withHeader({ x5c: headerOf(authority).x5c.slice(0, 1) }))).toBe('xcode')
  })
})

describe('the signature', () => {
  test('must be made with the leaf’s key over exactly this text', async () => {
    const jws = authority.sign(transactionPayload())
    const [header, , signature] = jws.split('.')
    expect(await verdict(`${header}.${encode(transactionPayload({ price: 1 }))}.${signature}`)).toBe(
      'signature',
    )
    const cousin = await issueChain({ now: NOW, intermediate_of: authority })
    expect(await verdict(signUnder(headerOf(authority), {}, cousin.leaf_key))).toBe('signature')
  })

  test('of zeros, of another length or in DER is refused', async () => {
    const [header, payload] = authority.sign(transactionPayload()).split('.')
    const text = `${header}.${payload}`
    const der = sign('sha256', Buffer.from(text), authority.leaf_key)
    for (const bytes of [Buffer.alloc(64), Buffer.alloc(63, 1), Buffer.alloc(128, 1), der]) {
      expect(await verdict(`${text}.${bytes.toString('base64url')}`)).toBe('signature')
    }
  })

  test('that fails does not change the verifier', async () => {
    const verifier = verifierOf(authority)
    const jws = authority.sign(transactionPayload())
    const forged = jws.replace(/[^.]+$/, Buffer.alloc(64, 1).toString('base64url'))
    await expect(verifier.verify(forged)).rejects.toMatchObject({ code: 'signature' })
    expect((await verifier.verify(jws)).jws).toBe(jws)
    await expect(verifier.verify(forged)).rejects.toMatchObject({ code: 'signature' })
  })
})

test('characters with the same low byte are distinct', async () => {
  const jws = authority.sign(transactionPayload())
  const verifier = verifierOf(authority)
  await verifier.verify(jws)
  const dots = [jws.indexOf('.'), jws.lastIndexOf('.')]
  for (const at of [3, (dots[0] ?? 0) + 5, (dots[1] ?? 0) + 5]) {
    const alias = String.fromCharCode(jws.charCodeAt(at) + 0x100)
    const aliased = jws.slice(0, at) + alias + jws.slice(at + 1)
    await expect(verifier.verify(aliased)).rejects.toMatchObject({
      code: expect.stringMatching(/^(not_a_jws|signature)$/),
    })
  }
})

describe('the payload', () => {
  test.each<[string, Buffer]>([
    ['an array', Buffer.from('[]')],
    ['a bare value', Buffer.from('"text"')],
    ['null', Buffer.from('null')],
    ['no JSON', Buffer.from('{"a":')],
    ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
    ['a byte order mark', Buffer.from('\ufeff{}')],
  ])('that is %s is refused', async (_, bytes) => {
    expect(await verdict(signBytes(bytes))).toBe('payload')
  })

  test('nested a hundred thousand levels deep breaks nothing', async () => {
    const deep = signBytes(Buffer.from(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`))
    const result = await verdict(deep)
    expect(result === 'payload' || typeof result === 'object').toBe(true)
  })

  test('from a test environment is refused', async () => {
    for (const environment of ['Xcode', 'LocalTesting']) {
      expect(await verdict(authority.sign({ environment }))).toBe('xcode')
      expect(await verdict(authority.sign({ receiptType: environment }))).toBe('xcode')
    }
    for (const environment of ['production', 'Staging', '', 1, {}]) {
      expect(await verdict(authority.sign({ environment }))).toBe('environment')
    }
  })
})
