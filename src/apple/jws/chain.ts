/**
 * Verifies that certificates are a chain from a pinned root of Apple's to a signing key (RFC 5280). The App Store and
 * App Attest have a root and marker extensions of their own.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { Certificate, type Extension } from '@peculiar/asn1-x509'
import { SignatureError } from './signature_error.ts'
import type { Chain } from './validity.ts'

/** What tells one chain of Apple's from another: extensions, and the elliptic curves of the intermediate's key. */
type Profile = {
  leaf_marker: string
  intermediate_marker: string | null
  intermediate_curves: readonly string[]
}

/** Receipts and transactions. The intermediate is that of Worldwide Developer Relations. */
const APP_STORE: Profile = {
  leaf_marker: '1.2.840.113635.100.6.11.1',
  intermediate_marker: '1.2.840.113635.100.6.2.1',
  intermediate_curves: ['secp384r1', 'prime256v1'],
}

/** Attested keys. The leaf's marker is the nonce of the attestation. */
const APP_ATTEST: Profile = {
  leaf_marker: '1.2.840.113635.100.8.2',
  intermediate_marker: null,
  intermediate_curves: ['secp384r1'],
}

/** Apple's certificates have about 1,100 bytes each. */
const MAX_CERTIFICATE_BYTES = 8192

function decodeDer(text: string): Buffer {
  const der = Buffer.from(text, 'base64')
  if (der.length <= MAX_CERTIFICATE_BYTES && der.toString('base64') === text) return der
  throw new SignatureError('chain', 'a certificate in x5c is not base64 (RFC 7515 §4.1.6) or far too large')
}

function parseCertificate(der: Buffer): X509Certificate {
  try {
    const certificate = new X509Certificate(der)
    if (certificate.raw.equals(der)) return certificate
  } catch {
    // The error below is the same for an invalid certificate and for trailing bytes.
  }
  throw new SignatureError('chain', 'one of the certificates in x5c is not a certificate')
}

/** The elliptic curve of a certificate's key; undefined for another kind of key, such as a huge RSA key. */
function curveOf(certificate: X509Certificate): string | undefined {
  try {
    return certificate.publicKey.asymmetricKeyDetails?.namedCurve
  } catch {
    return undefined
  }
}

type Certificates = Pick<Chain, 'leaf' | 'intermediate' | 'root'>

function assertAuthorities(
  { leaf, intermediate, root }: Certificates,
  { intermediate_curves }: Profile,
): void {
  if (!root.ca || !intermediate.ca) {
    throw new SignatureError('not_a_ca', 'a certificate in the chain is not a certificate authority')
  }
  if (leaf.ca) throw new SignatureError('chain', 'the signing certificate is a certificate authority')
  if (curveOf(leaf) !== 'prime256v1') throw new SignatureError('chain', 'the signing key is not on P-256')
  if (!intermediate_curves.includes(curveOf(intermediate) ?? '')) {
    const curves = intermediate_curves.includes('prime256v1') ? 'P-256 or P-384' : 'P-384'
    throw new SignatureError('chain', `the intermediate’s key is not on ${curves}`)
  }
}

function assertIssued(certificate: X509Certificate, issuer: X509Certificate, key: KeyObject): void {
  if (certificate.checkIssued(issuer) && certificate.verify(key)) return
  throw new SignatureError('chain', 'a certificate in x5c was not issued by the one after it')
}

function extensionsOf(certificate: X509Certificate): readonly Extension[] {
  try {
    return AsnConvert.parse(certificate.raw, Certificate).tbsCertificate.extensions ?? []
  } catch {
    throw new SignatureError('chain', 'the extensions of a certificate in x5c cannot be read')
  }
}

/** The value of an extension of a certificate; null if it has none. Throws SignatureError for unreadable extensions. */
export function extensionOf(certificate: X509Certificate, id: string): Buffer | null {
  const found = extensionsOf(certificate).find(({ extnID }) => extnID === id)
  return found ? Buffer.from(found.extnValue.buffer) : null
}

/** Parses the extensions, because a search in the bytes would also match the marker inside other values. */
function assertMarked(certificate: X509Certificate, marker: string): void {
  if (extensionsOf(certificate).some((extension) => extension.extnID === marker)) return
  throw new SignatureError('marker', `a certificate in x5c lacks Apple’s marker ${marker}`)
}

/**
 * Verifies a chain of base64 DER certificates, leaf first, whose last is one of the pinned roots, byte for byte. Cheap
 * checks come first, so that forged chains cost little time. Does not check the validity: see `assertValidAt`.
 * Throws SignatureError.
 */
export function verifyChain(
  x5c: readonly [string, string, string],
  roots: readonly X509Certificate[],
): Chain {
  const der = decodeDer(x5c[2])
  const root = roots.find((pinned) => pinned.raw.equals(der))
  if (root === undefined) throw new SignatureError('root', 'the chain does not end in Apple Root CA - G3')
  const leaf = parseCertificate(decodeDer(x5c[0]))
  const intermediate = parseCertificate(decodeDer(x5c[1]))
  return assertChain({ leaf, intermediate, root }, APP_STORE)
}

/**
 * Verifies the certificates of an attestation, leaf and intermediate as DER. The root is not among them: it is the pinned
 * root that issued the intermediate. Does not check the validity: see `assertValidAt`. Throws SignatureError.
 */
export function verifyAttestChain(
  [leafDer, intermediateDer]: readonly [Buffer, Buffer],
  roots: readonly X509Certificate[],
): Chain {
  const intermediate = parseCertificate(intermediateDer)
  const root = roots.find((pinned) => intermediate.checkIssued(pinned))
  if (root === undefined)
    throw new SignatureError('root', 'the chain does not end in Apple App Attestation Root CA')
  return assertChain({ leaf: parseCertificate(leafDer), intermediate, root }, APP_ATTEST)
}

function assertChain(chain: Certificates, profile: Profile): Chain {
  const { leaf, intermediate, root } = chain
  assertAuthorities(chain, profile)
  assertIssued(leaf, intermediate, intermediate.publicKey)
  assertIssued(intermediate, root, root.publicKey)
  assertMarked(leaf, profile.leaf_marker)
  if (profile.intermediate_marker !== null) assertMarked(intermediate, profile.intermediate_marker)
  const certificates = [leaf, intermediate, root]
  return {
    ...chain,
    key: leaf.publicKey.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']),
    from: Math.max(...certificates.map((one) => one.validFromDate.getTime())),
    until: Math.min(...certificates.map((one) => one.validToDate.getTime())),
  }
}
