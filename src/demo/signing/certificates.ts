/** Issues X.509 certificates (RFC 5280) on elliptic curves. */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AccessDescription,
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityInfoAccessSyntax,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_subjectKeyIdentifier,
  id_pe_authorityInfoAccess,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'

/** A certificate as DER, its subject, and the private key that it certifies. */
export type Issued = { der: Buffer; subject: Name; key: KeyObject }

/**
 * A certificate to issue. `from` and `until` are milliseconds since the epoch. `markers` are the object identifiers of
 * extensions whose value is NULL; `extensions` have a value, as DER.
 */
type CertificateRequest = {
  name: string
  key: KeyObject
  issuer?: Issued | undefined
  from: number
  until: number
  isAuthority: boolean
  markers?: readonly string[] | undefined
  extensions?: Readonly<Record<string, Uint8Array>> | undefined
  ocsp_url?: string | undefined
}

const ORGANIZATION = '2.5.4.10'
const COMMON_NAME = '2.5.4.3'
const OCSP = '1.3.6.1.5.5.7.48.1'
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const NULL_VALUE = Uint8Array.of(5, 0)

function distinguishedName(commonName: string): Name {
  const attribute = (type: string, text: string) =>
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) }),
    ])
  return new Name([attribute(COMMON_NAME, commonName), attribute(ORGANIZATION, 'The simulated App Store')])
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(createPublicKey(key).export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo)
}

/** RFC 5280 §4.2.1.2, method 1: the SHA-1 of the public key's bits. */
function identifierOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(Buffer.from(publicKeyInfo(key).subjectPublicKey))
    .digest()
}

function extension(id: string, value: unknown, critical = false): Extension {
  const bytes = value instanceof Uint8Array ? new Uint8Array(value).buffer : AsnConvert.serialize(value)
  return new Extension({ extnID: id, critical, extnValue: new OctetString(bytes) })
}

function extensionsOf(request: CertificateRequest): Extensions {
  const issuer = request.issuer ?? request
  const usage = request.isAuthority
    ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign
    : KeyUsageFlags.digitalSignature
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: request.isAuthority }), true),
    extension(id_ce_keyUsage, new KeyUsage(usage), true),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(identifierOf(request.key))),
    extension(
      id_ce_authorityKeyIdentifier,
      new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(identifierOf(issuer.key)) }),
    ),
    ...(request.markers ?? []).map((id) => extension(id, NULL_VALUE)),
    ...Object.entries(request.extensions ?? {}).map(([id, value]) => extension(id, value)),
  ]
  if (request.ocsp_url !== undefined) {
    const accessLocation = new GeneralName({ uniformResourceIdentifier: request.ocsp_url })
    const access = new AccessDescription({ accessMethod: OCSP, accessLocation })
    extensions.push(extension(id_pe_authorityInfoAccess, new AuthorityInfoAccessSyntax([access])))
  }
  return new Extensions(extensions)
}

/** A positive serial number of 16 bytes. */
function serialNumber(): ArrayBuffer {
  const bytes = new Uint8Array(randomBytes(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.buffer
}

/** Issues a certificate, signed with ECDSA and SHA-256 by `issuer`; without an issuer, by its own key. */
export function issueCertificate(request: CertificateRequest): Issued {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 })
  const subject = distinguishedName(request.name)
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: request.issuer?.subject ?? subject,
    validity: new Validity({ notBefore: new Date(request.from), notAfter: new Date(request.until) }),
    subject,
    subjectPublicKeyInfo: publicKeyInfo(request.key),
    extensions: extensionsOf(request),
  })
  const tbsDer = Buffer.from(AsnConvert.serialize(tbsCertificate))
  const signature = new Uint8Array(sign('sha256', tbsDer, request.issuer?.key ?? request.key))
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: signature.buffer,
  })
  return { der: Buffer.from(AsnConvert.serialize(certificate)), subject, key: request.key }
}
