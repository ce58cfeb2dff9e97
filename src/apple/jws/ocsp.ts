/** OCSP requests and the verification of their responses (RFC 6960). */
import { createHash, type KeyObject, verify, X509Certificate } from 'node:crypto'
import {
  BasicOCSPResponse,
  CertID,
  id_kp_OCSPSigning,
  id_pkix_ocsp,
  id_pkix_ocsp_basic,
  OCSPRequest,
  OCSPResponse,
  OCSPResponseStatus,
  Request,
  type SingleResponse,
  TBSRequest,
} from '@peculiar/asn1-ocsp'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AuthorityInfoAccessSyntax,
  Certificate,
  id_pe_authorityInfoAccess,
} from '@peculiar/asn1-x509'
import { CLOCK_SKEW_MS } from './validity.ts'

/** `good` and `revoked` are the issuer's statements; `fresh_until` is in milliseconds since the epoch. */
export type OcspResult = { state: 'good' | 'revoked' | 'unknown'; fresh_until: number }

/** A request about one certificate: the DER to send, and the certificate id that the response must contain. */
type OcspRequest = { der: Buffer; certificateId: CertID }

const SHA256 = '2.16.840.1.101.3.4.2.1'

/** Signature algorithms of RFC 5758 §3.2 and RFC 8017 with a secure hash. */
const HASHES: Readonly<Record<string, string>> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
}

const bytes = (data: ArrayBuffer | OctetString) =>
  Buffer.from(data instanceof OctetString ? data.buffer : data)
const digest = (algorithm: string, data: ArrayBuffer) =>
  createHash(algorithm).update(Buffer.from(data)).digest()
const parseCertificate = (certificate: X509Certificate) =>
  AsnConvert.parse(certificate.raw, Certificate).tbsCertificate

/** The URL of the OCSP responder in a certificate (RFC 5280 §4.2.2.1); null without one. */
export function responderOf(certificate: X509Certificate): string | null {
  const found = parseCertificate(certificate).extensions?.find(
    (one) => one.extnID === id_pe_authorityInfoAccess,
  )
  if (found === undefined) return null
  const access = AsnConvert.parse(found.extnValue, AuthorityInfoAccessSyntax)
  const ocsp = access.find((one) => one.accessMethod === id_pkix_ocsp)
  return ocsp?.accessLocation.uniformResourceIdentifier ?? null
}

/** The request for one certificate, identified by SHA-256 (RFC 6960 §4.1.1). */
export function ocspRequestFor(certificate: X509Certificate, issuer: X509Certificate): OcspRequest {
  const { subject, subjectPublicKeyInfo } = parseCertificate(issuer)
  const certificateId = new CertID({
    hashAlgorithm: new AlgorithmIdentifier({ algorithm: SHA256, parameters: null }),
    issuerNameHash: new OctetString(digest('sha256', AsnConvert.serialize(subject))),
    issuerKeyHash: new OctetString(digest('sha256', subjectPublicKeyInfo.subjectPublicKey)),
    serialNumber: parseCertificate(certificate).serialNumber,
  })
  const tbsRequest = new TBSRequest({ requestList: [new Request({ reqCert: certificateId })] })
  return { der: Buffer.from(AsnConvert.serialize(new OCSPRequest({ tbsRequest }))), certificateId }
}

function sameCertificate(one: CertID, other: CertID): boolean {
  return (
    one.hashAlgorithm.algorithm === other.hashAlgorithm.algorithm &&
    bytes(one.issuerNameHash).equals(bytes(other.issuerNameHash)) &&
    bytes(one.issuerKeyHash).equals(bytes(other.issuerKeyHash)) &&
    bytes(one.serialNumber).equals(bytes(other.serialNumber))
  )
}

function parseBasicResponse(response: Uint8Array): BasicOCSPResponse {
  const { responseStatus, responseBytes } = AsnConvert.parse(response, OCSPResponse)
  if (responseStatus !== OCSPResponseStatus.successful || responseBytes === undefined) {
    throw new Error(`the responder declined: ${OCSPResponseStatus[responseStatus] ?? responseStatus}`)
  }
  if (responseBytes.responseType !== id_pkix_ocsp_basic) throw new Error('not a basic OCSP response')
  return AsnConvert.parse(responseBytes.response, BasicOCSPResponse)
}

/** Whether the responder id is this certificate's subject or the SHA-1 of its key. */
function isResponder(basic: BasicOCSPResponse, certificate: X509Certificate): boolean {
  const { byName, byKey } = basic.tbsResponseData.responderID
  const { subject, subjectPublicKeyInfo } = parseCertificate(certificate)
  if (byKey !== undefined) return bytes(byKey).equals(digest('sha1', subjectPublicKeyInfo.subjectPublicKey))
  if (byName === undefined) return false
  return Buffer.from(AsnConvert.serialize(byName)).equals(Buffer.from(AsnConvert.serialize(subject)))
}

/** A valid delegate has a current certificate from the issuer for OCSP signing (RFC 6960 §4.2.2.2). */
function isDelegate(certificate: X509Certificate, issuer: X509Certificate, now: number): boolean {
  return (
    certificate.checkIssued(issuer) &&
    certificate.verify(issuer.publicKey) &&
    (certificate.keyUsage ?? []).includes(id_kp_OCSPSigning) &&
    certificate.validFromDate.getTime() - CLOCK_SKEW_MS <= now &&
    certificate.validToDate.getTime() + CLOCK_SKEW_MS >= now
  )
}

/**
 * The key that the response must be signed with: the issuer's, or the key of an authorized delegate in the response.
 */
function signingKeyOf(basic: BasicOCSPResponse, issuer: X509Certificate, now: number): KeyObject {
  if (isResponder(basic, issuer)) return issuer.publicKey
  const certificates = (basic.certs ?? []).map(
    (one) => new X509Certificate(Buffer.from(AsnConvert.serialize(one))),
  )
  const delegate = certificates.find((one) => isResponder(basic, one) && isDelegate(one, issuer, now))
  if (delegate === undefined) throw new Error('the responder is not authorized by the issuer')
  return delegate.publicKey
}

function assertSigned(basic: BasicOCSPResponse, key: KeyObject): void {
  const { tbsResponseDataRaw, signature, signatureAlgorithm } = basic
  const hash = HASHES[signatureAlgorithm.algorithm]
  if (hash === undefined || tbsResponseDataRaw === undefined)
    throw new Error('signed with an unknown algorithm')
  const genuine = verify(hash, Buffer.from(tbsResponseDataRaw), key, Buffer.from(signature))
  if (!genuine) throw new Error('the signature of the response is not valid')
}

function stateOf(single: SingleResponse): OcspResult['state'] {
  if (single.certStatus.revoked !== undefined) return 'revoked'
  return single.certStatus.good === undefined ? 'unknown' : 'good'
}

/**
 * Verifies a response (DER) and returns the state of the certificate. Throws Error with a message for the log if it is
 * not signed by the issuer or its delegate, is about another certificate, or is not current.
 */
export function verifyOcspResponse(
  response: Uint8Array,
  request: OcspRequest,
  issuer: X509Certificate,
  now: number,
): OcspResult {
  const basic = parseBasicResponse(response)
  assertSigned(basic, signingKeyOf(basic, issuer, now))
  const single = basic.tbsResponseData.responses.find((one) =>
    sameCertificate(one.certID, request.certificateId),
  )
  if (single === undefined) throw new Error('the response is about another certificate')
  const until = single.nextUpdate?.getTime()
  if (single.thisUpdate.getTime() > now + CLOCK_SKEW_MS) throw new Error('the response is from the future')
  if (until === undefined || until < now - CLOCK_SKEW_MS) throw new Error('the response is out of date')
  return { state: stateOf(single), fresh_until: until + CLOCK_SKEW_MS }
}
