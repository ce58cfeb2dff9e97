import { AsnConvert } from '@peculiar/asn1-schema'
import { Certificate, id_ce_subjectKeyIdentifier } from '@peculiar/asn1-x509'
import { beforeAll, describe, expect, test } from 'vitest'
import { APPLE_ROOTS } from '../../../src/apple/jws/roots.ts'
import type { SignatureFault } from '../../../src/apple/jws/signed.ts'
import {
  type Authority,
  authorityFrom,
  type Chain,
  headerOf,
  issueChain,
  openAuthority,
  signUnder,
} from '../../../src/demo/signing/authority.ts'
import { type Issued, issueCertificate } from '../../../src/demo/signing/certificates.ts'
import { verdictUnder, verifierOf } from '../refusals.ts'
import { NOW, transactionPayload } from '../samples.ts'

const DAY = 86_400_000
const LEAF_MARKER = '1.2.840.113635.100.6.11.1'
let authority: Authority
beforeAll(async () => {
  authority = await openAuthority({ now: NOW })
})

const verdict = (jws: string, root: { root_pem: string } = authority, now = NOW) =>
  verdictUnder(root, jws, now)

/** Replaces the key and the name in `certificate` by those of `other`. Its issuer’s signature is unchanged. */
function withKeyOf(certificate: Issued, other: Issued): Issued {
  const parsed = AsnConvert.parse(certificate.der, Certificate)
  const donor = AsnConvert.parse(other.der, Certificate).tbsCertificate
  const name = donor.extensions?.find((one) => one.extnID === id_ce_subjectKeyIdentifier)
  const extensions = parsed.tbsCertificate.extensions ?? []
  for (const one of extensions) {
    if (one.extnID === id_ce_subjectKeyIdentifier && name !== undefined) one.extnValue = name.extnValue
  }
  parsed.tbsCertificate.subjectPublicKeyInfo = donor.subjectPublicKeyInfo
  return { ...certificate, key: other.key, der: Buffer.from(AsnConvert.serialize(parsed)) }
}

describe('the chain', () => {
  const issueLeaf = (changes: Partial<Parameters<typeof issueCertificate>[0]>): Issued =>
    issueCertificate({
      name: 'Simulated Receipt Signing',
      key: authority.leaf_key,
      issuer: authority.issued.intermediate,
      from: NOW - DAY,
      until: NOW + DAY,
      isAuthority: false,
      markers: [LEAF_MARKER],
      ...changes,
    })
  const signedBy = (chain: Chain, x5c = chain.chain) =>
    signUnder(headerOf({ ...chain, chain: x5c }), transactionPayload(), chain.leaf_key)
  const fault = async (options: Partial<Parameters<typeof issueChain>[0]>): Promise<unknown> => {
    const chain = await issueChain({ now: NOW, ...options })
    return verdict(signedBy(chain), chain)
  }

  test('must end in a pinned root, byte for byte', async () => {
    const other = await issueChain({ now: NOW })
    expect(await verdict(signedBy(other))).toBe('root')
    expect(await verdict(signedBy(authority), { root_pem: APPLE_ROOTS[0] ?? '' })).toBe('root')
    const disguised = [...other.chain.slice(0, 2), ...authority.chain.slice(2)]
    expect(await verdict(signedBy(other, disguised))).toBe('chain')
  })

  test('must be in order, complete and from one authority', async () => {
    const [leaf, intermediate, root] = authority.chain as [Buffer, Buffer, Buffer]
    const cousin = await issueChain({ now: NOW, root_of: authority })
    const [, stranger] = cousin.chain as [Buffer, Buffer, Buffer]
    expect(await verdict(signedBy(authority, [root, intermediate, leaf]))).toBe('root')
    expect(await verdict(signedBy(authority, [intermediate, leaf, root]))).toBe('not_a_ca')
    expect(await verdict(signedBy(authority, [leaf, root, root]))).toBe('chain')
    expect(await verdict(signedBy(authority, [leaf, stranger, root]))).toBe('chain')
  })

  test('must be signed by its issuer: a replaced key in a genuine certificate is refused', async () => {
    const other = await issueChain({ now: NOW })
    const leaf = withKeyOf(authority.issued.leaf, other.issued.leaf)
    expect(await verdict(signedBy(other, [leaf.der, ...authority.chain.slice(1)]))).toBe('chain')
    const intermediate = withKeyOf(authority.issued.intermediate, other.issued.intermediate)
    const below = await issueChain({
      now: NOW,
      intermediate_of: { ...authority, issued: { ...authority.issued, intermediate } },
    })
    expect(
      await verdict(
        signedBy(below, [below.chain[0] ?? leaf.der, intermediate.der, authority.issued.root.der]),
      ),
    ).toBe('chain')
  })

  test('must be named: each certificate has the name of its issuer', async () => {
    const { intermediate, root } = authority.issued
    const misnamed = issueLeaf({ issuer: { ...intermediate, subject: root.subject } })
    expect(await verdict(signedBy(authority, [misnamed.der, intermediate.der, root.der]))).toBe('chain')
  })

  test('must not exceed the size limits', async () => {
    const { intermediate, root } = authority.issued
    const size = async (markers: number) => {
      const leaf = issueLeaf({ markers: [...Array<string>(markers).fill('1.2.3.4'), LEAF_MARKER] })
      return verdict(signedBy(authority, [leaf.der, intermediate.der, root.der]))
    }
    expect(await size(3)).toEqual(transactionPayload())
    expect(await size(900)).toBe('chain')
  })

  test('may have a new intermediate and leaf at any time', async () => {
    const next = await issueChain({ now: NOW, intermediate_of: authority })
    const after = await issueChain({ now: NOW, root_of: authority })
    expect(await verdict(signedBy(next))).toEqual(transactionPayload())
    expect(await verdict(signedBy(after))).toEqual(transactionPayload())
  })

  test('must have both of Apple’s marker extensions', async () => {
    expect(await fault({ without: 'leaf_marker' })).toBe('marker')
    expect(await fault({ without: 'intermediate_marker' })).toBe('marker')
  })

  test('must have the correct CA flags', async () => {
    expect(await fault({ without: 'ca_flag' })).toBe('not_a_ca')
    const leaf = issueLeaf({ isAuthority: true })
    expect(await verdict(signedBy(authority, [leaf.der, ...authority.chain.slice(1)]))).toBe('chain')
  })

  test('must end in a leaf with a P-256 key', async () => {
    expect(await fault({ leaf_curve: 'P-384' })).toBe('chain')
    expect(await fault({ intermediate_curve: 'P-256' })).toEqual(transactionPayload())
  })

  test('must have complete certificates in strict base64, without trailing bytes', async () => {
    const { x5c } = headerOf(authority)
    const [leaf = '', intermediate = '', root = ''] = x5c
    const under = (certificates: string[]) =>
      verdict(
        signUnder({ ...headerOf(authority), x5c: certificates }, transactionPayload(), authority.leaf_key),
      )
    const longer = Buffer.concat([Buffer.from(leaf, 'base64'), Buffer.from([0])]).toString('base64')
    const pem = Buffer.from(authority.root_pem).toString('base64')
    const broken: [string, SignatureFault][] = [
      [longer, 'chain'],
      [`${leaf.slice(0, 20)}\n${leaf.slice(20)}`, 'chain'],
      [Buffer.from(leaf, 'base64').toString('base64url'), 'chain'],
      [leaf.slice(0, 400), 'chain'],
      [pem, 'chain'],
      ['', 'chain'],
      [Buffer.alloc(9000).toString('base64'), 'chain'],
    ]
    for (const [certificate, code] of broken)
      expect(await under([certificate, intermediate, root])).toBe(code)
    expect(await under([leaf, intermediate, root])).toEqual(transactionPayload())
  })

  test('must be valid at the signing date of the payload', async () => {
    const edges: [string, number, number][] = [
      ['leaf', NOW - 10 * DAY, NOW + 10 * DAY],
      ['intermediate', NOW - 10 * DAY, NOW + 10 * DAY],
      ['root', NOW - 10 * DAY, NOW + 10 * DAY],
    ]
    for (const [which, from, until] of edges) {
      const made = authorityFrom(
        await issueChain({ now: NOW, [`${which}_from`]: from, [`${which}_until`]: until }),
      )
      const at = async (signedDate: number) => verdict(made.sign({ signedDate }), made, NOW + 900 * DAY)
      expect(await at(from - 60_000)).toEqual({ signedDate: from - 60_000 })
      expect(await at(until + 60_000)).toEqual({ signedDate: until + 60_000 })
      expect(await at(from - 61_000)).toBe('not_valid_then')
      expect(await at(until + 61_000)).toBe('not_valid_then')
    }
  })

  test('is validated at the receipt’s creation date, or now, without a signing date', async () => {
    const old = authorityFrom(await issueChain({ now: NOW, leaf_until: NOW - DAY }))
    const receipt = { receiptCreationDate: NOW - 2 * DAY }
    expect(await verdict(old.sign(receipt), old)).toEqual(receipt)
    expect(await verdict(old.sign({}), old)).toBe('not_valid_then')
    expect(await verdict(old.sign({}), old, NOW - 2 * DAY)).toEqual({})
    expect(await verdict(old.sign({ signedDate: 'yesterday' }), old)).toBe('payload')
    expect(await verdict(old.sign({ signedDate: 1e300 }), old)).toBe('not_valid_then')
  })

  test('is validated at each payload’s date, also if it is cached', async () => {
    const old = authorityFrom(await issueChain({ now: NOW, leaf_until: NOW }))
    const verifier = verifierOf(old)
    await verifier.verify(old.sign({ signedDate: NOW - DAY }))
    await expect(verifier.verify(old.sign({ signedDate: NOW + DAY }))).rejects.toMatchObject({
      code: 'not_valid_then',
    })
  })
})
