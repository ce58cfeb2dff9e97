/**
 * Verifies that three certificates are a chain from Apple's pinned root to an App Store signing key (RFC 5280, and
 * Apple's two marker extensions).
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { Certificate, type Extension } from '@peculiar/asn1-x509'
import { SignatureError } from './signature_error.ts'
import type { Chain } from './validity.ts'

/** Apple's marker on the leaf that signs App Store receipts and transactions. */
const LEAF_MARKER = '1.2.840.113635.100.6.11.1'
/** Apple's marker on the intermediate of Worldwide Developer Relations. */
const INTERMEDIATE_MARKER = '1.2.840.113635.100.6.2.1'
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
  throw new SignatureError('chain', 'one of the three in x5c is not a certificate')
}

/** The elliptic curve of a certificate's key; undefined for another kind of key, such as a huge RSA key. */
function curveOf(certificate: X509Certificate): string | undefined {
  try {
    return certificate.publicKey.asymmetricKeyDetails?.namedCurve
  } catch {
    return undefined
  }
}

function assertAuthorities(
  leaf: X509Certificate,
  intermediate: X509Certificate,
  root: X509Certificate,
): void {
  if (!root.ca || !intermediate.ca) {
    throw new SignatureError('not_a_ca', 'a certificate in the chain is not a certificate authority')
  }
  if (leaf.ca) throw new SignatureError('chain', 'the signing certificate is a certificate authority')
  if (curveOf(leaf) !== 'prime256v1') throw new SignatureError('chain', 'the signing key is not on P-256')
  const curve = curveOf(intermediate)
  if (curve !== 'secp384r1' && curve !== 'prime256v1') {
    throw new SignatureError('chain', 'the intermediate’s key is not on P-256 or P-384')
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
  assertAuthorities(leaf, intermediate, root)
  assertIssued(leaf, intermediate, intermediate.publicKey)
  assertIssued(intermediate, root, root.publicKey)
  assertMarked(leaf, LEAF_MARKER)
  assertMarked(intermediate, INTERMEDIATE_MARKER)
  const certificates = [leaf, intermediate, root]
  return {
    leaf,
    intermediate,
    root,
    key: leaf.publicKey.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']),
    from: Math.max(...certificates.map((one) => one.validFromDate.getTime())),
    until: Math.min(...certificates.map((one) => one.validToDate.getTime())),
  }
}
