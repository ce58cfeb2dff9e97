import { verify, X509Certificate } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { Certificate } from '@peculiar/asn1-x509'
import { expect, test } from 'vitest'
import {
  authorityFrom,
  type Chain,
  issueChain,
  openAuthority,
  signUnder,
} from '../../../src/demo/signing/authority.ts'

const NOW = Date.UTC(2026, 5, 1)
const YEAR = 365.25 * 86_400_000
const LEAF = '1.2.840.113635.100.6.11.1'
const INTERMEDIATE = '1.2.840.113635.100.6.2.1'

function certificates(chain: Chain) {
  const [leaf, intermediate, root] = chain.chain.map((der) => new X509Certificate(der))
  if (!leaf || !intermediate || !root) throw new Error('three certificates were expected')
  return { leaf, intermediate, root }
}

function markers(der: Buffer | undefined): string[] {
  const extensions = AsnConvert.parse(der ?? Buffer.alloc(0), Certificate).tbsCertificate.extensions ?? []
  return [...extensions]
    .filter((e) => Buffer.from(e.extnValue.buffer).equals(Buffer.from([5, 0])))
    .map((e) => e.extnID)
}

function isSignedBy(jws: string, certificate: X509Certificate): boolean {
  const [header, payload, signature] = jws.split('.')
  const key = { key: certificate.publicKey, dsaEncoding: 'ieee-p1363' as const }
  return verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature ?? '', 'base64url'))
}

test('each certificate is issued by the next, and the root by itself', async () => {
  const { leaf, intermediate, root } = certificates(await openAuthority({ now: NOW }))
  expect(leaf.checkIssued(intermediate) && leaf.verify(intermediate.publicKey)).toBe(true)
  expect(intermediate.checkIssued(root) && intermediate.verify(root.publicKey)).toBe(true)
  expect(root.checkIssued(root) && root.verify(root.publicKey)).toBe(true)
  expect([leaf.ca, intermediate.ca, root.ca]).toEqual([false, true, true])
})

test('leaf and intermediate carry their markers with the value NULL', async () => {
  const { chain } = await openAuthority({ now: NOW })
  expect(chain.map(markers)).toEqual([[LEAF], [INTERMEDIATE], []])
})

test('the leaf is on P-256 and valid from three years before to two years after', async () => {
  const { leaf } = certificates(await openAuthority({ now: NOW }))
  expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
  expect(new Date(leaf.validFrom).getTime()).toBe(NOW - 3 * YEAR)
  expect(new Date(leaf.validTo).getTime()).toBe(NOW + 2 * YEAR)
})

test('the root in PEM is the last certificate of the chain', async () => {
  const authority = await openAuthority({ now: NOW })
  expect(new X509Certificate(authority.root_pem).raw.equals(authority.chain[2] ?? Buffer.alloc(0))).toBe(true)
})

test('a signed payload is a compact ES256 JWS with the chain in its header', async () => {
  const authority = await openAuthority({ now: NOW })
  const jws = authority.sign({ signedDate: NOW, word: 'grün' })
  const [header = '', payload = '', signature = ''] = jws.split('.')
  const decoded = JSON.parse(Buffer.from(header, 'base64url').toString())
  expect(decoded).toEqual({ alg: 'ES256', x5c: authority.chain.map((der) => der.toString('base64')) })
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({ signedDate: NOW, word: 'grün' })
  expect(Buffer.from(signature, 'base64url')).toHaveLength(64)
  expect(isSignedBy(jws, certificates(authority).leaf)).toBe(true)
})

test('a chain can be issued without what makes it Apple-like', async () => {
  const noLeaf = await issueChain({ now: NOW, without: 'leaf_marker' })
  const noIntermediate = await issueChain({ now: NOW, without: 'intermediate_marker' })
  const noAuthority = await issueChain({ now: NOW, without: 'ca_flag' })
  expect(noLeaf.chain.map(markers)).toEqual([[], [INTERMEDIATE], []])
  expect(noIntermediate.chain.map(markers)).toEqual([[LEAF], [], []])
  expect(certificates(noAuthority).intermediate.ca).toBe(false)
  expect(markers(noAuthority.chain[1])).toEqual([INTERMEDIATE])
})

test('validity, curve and the address for revocation can be chosen', async () => {
  const chain = await issueChain({
    now: NOW,
    leaf_from: NOW - 1000,
    leaf_until: NOW,
    intermediate_until: NOW + 5000,
    root_from: NOW - 9000,
    leaf_curve: 'P-384',
    ocsp_url: 'http://127.0.0.1:9/ocsp',
  })
  const { leaf, intermediate, root } = certificates(chain)
  expect([new Date(leaf.validFrom).getTime(), new Date(leaf.validTo).getTime()]).toEqual([NOW - 1000, NOW])
  expect(new Date(intermediate.validTo).getTime()).toBe(NOW + 5000)
  expect(new Date(root.validFrom).getTime()).toBe(NOW - 9000)
  expect(leaf.publicKey.asymmetricKeyDetails?.namedCurve).toBe('secp384r1')
  expect(leaf.infoAccess).toContain('http://127.0.0.1:9/ocsp')
  expect(intermediate.infoAccess).toContain('http://127.0.0.1:9/ocsp')
  expect(root.infoAccess).toBeUndefined()
})

test('a new chain can hang under the root, or the intermediate, of another', async () => {
  const first = await openAuthority({ now: NOW })
  const underRoot = await issueChain({ now: NOW, root_of: first })
  const underIntermediate = authorityFrom(await issueChain({ now: NOW, intermediate_of: first }))
  expect(underRoot.chain[2]).toBe(first.chain[2])
  expect(underRoot.chain[1]).not.toEqual(first.chain[1])
  expect(underIntermediate.chain.slice(1)).toEqual(first.chain.slice(1))
  const { leaf } = certificates(underIntermediate)
  expect(leaf.verify(certificates(first).intermediate.publicKey)).toBe(true)
  expect(isSignedBy(underIntermediate.sign({ a: 1 }), certificates(first).leaf)).toBe(false)
})

test('anything can be signed under any header', async () => {
  const authority = await openAuthority({ now: NOW })
  const jws = signUnder({ alg: 'none' }, { a: 1 }, authority.leaf_key)
  expect(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()).toBe('{"alg":"none"}')
  expect(isSignedBy(jws, certificates(authority).leaf)).toBe(true)
})
