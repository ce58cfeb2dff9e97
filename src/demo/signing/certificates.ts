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

/** A certificate, and the key that it is about. */
export type Issued = { der: Buffer; subject: Name; key: KeyObject }

/** `from` and `until` are milliseconds since the epoch; `markers` are object identifiers whose value is NULL. */
type Request = {
  name: string
  key: KeyObject
  issuer?: Issued | undefined
  from: number
  until: number
  authority: boolean
  markers?: readonly string[] | undefined
  ocsp_url?: string | undefined
}

const ORGANIZATION = '2.5.4.10'
const COMMON_NAME = '2.5.4.3'
const OCSP = '1.3.6.1.5.5.7.48.1'
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'
const NULL = Uint8Array.of(5, 0).buffer

function nameOf(common: string): Name {
  const part = (type: string, text: string) =>
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) }),
    ])
  return new Name([part(COMMON_NAME, common), part(ORGANIZATION, 'The simulated App Store')])
}

function publicHalf(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(createPublicKey(key).export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo)
}

/** RFC 5280 §4.2.1.2, method 1: the SHA-1 of the public key's bits. */
function identifierOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(Buffer.from(publicHalf(key).subjectPublicKey))
    .digest()
}

function extension(id: string, value: unknown, critical = false): Extension {
  const bytes = value instanceof ArrayBuffer ? value : AsnConvert.serialize(value)
  return new Extension({ extnID: id, critical, extnValue: new OctetString(bytes) })
}

function extensionsOf(request: Request): Extensions {
  const issuer = request.issuer ?? request
  const usage = request.authority
    ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign
    : KeyUsageFlags.digitalSignature
  const list = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: request.authority }), true),
    extension(id_ce_keyUsage, new KeyUsage(usage), true),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(identifierOf(request.key))),
    extension(
      id_ce_authorityKeyIdentifier,
      new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(identifierOf(issuer.key)) }),
    ),
    ...(request.markers ?? []).map((id) => extension(id, NULL)),
  ]
  if (request.ocsp_url !== undefined) {
    const accessLocation = new GeneralName({ uniformResourceIdentifier: request.ocsp_url })
    const access = new AccessDescription({ accessMethod: OCSP, accessLocation })
    list.push(extension(id_pe_authorityInfoAccess, new AuthorityInfoAccessSyntax([access])))
  }
  return new Extensions(list)
}

/** A positive serial number of 16 bytes. */
function serialNumber(): ArrayBuffer {
  const bytes = new Uint8Array(randomBytes(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.buffer
}

/** One certificate, signed with ECDSA and SHA-256 by `issuer`, or by its own key when there is none. */
export function issueCertificate(request: Request): Issued {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 })
  const subject = nameOf(request.name)
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: request.issuer?.subject ?? subject,
    validity: new Validity({ notBefore: new Date(request.from), notAfter: new Date(request.until) }),
    subject,
    subjectPublicKeyInfo: publicHalf(request.key),
    extensions: extensionsOf(request),
  })
  const body = Buffer.from(AsnConvert.serialize(tbsCertificate))
  const signature = new Uint8Array(sign('sha256', body, request.issuer?.key ?? request.key))
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: signature.buffer,
  })
  return { der: Buffer.from(AsnConvert.serialize(certificate)), subject, key: request.key }
}
