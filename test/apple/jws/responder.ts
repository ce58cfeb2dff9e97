/** An OCSP responder (RFC 6960) on the loopback that signs valid and invalid responses. */
import { createHash, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  BasicOCSPResponse,
  type CertID,
  CertStatus,
  id_kp_OCSPSigning,
  id_pkix_ocsp_basic,
  KeyHash,
  OCSPRequest,
  OCSPResponse,
  OCSPResponseStatus,
  ResponderID,
  ResponseBytes,
  ResponseData,
  RevokedInfo,
  SingleResponse,
} from '@peculiar/asn1-ocsp'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import { Certificate, ExtendedKeyUsage, Extension, id_ce_extKeyUsage } from '@peculiar/asn1-x509'
import { type Chain, issueChain } from '../../../src/demo/signing/authority.ts'
import { type Issued, issueCertificate } from '../../../src/demo/signing/certificates.ts'

/** The response to send. Times are milliseconds since the epoch. */
export type ResponderFaults = {
  state?: 'good' | 'revoked' | 'unknown'
  signer?: 'issuer' | 'delegate' | 'unasked delegate' | 'expired delegate' | 'forged delegate' | 'stranger'
  /** The responder is named by its name or by the hash of its key. */
  named_by?: 'name' | 'key'
  this_update?: number
  next_update?: number | null
  /** Respond for the next serial number instead. */
  wrong_serial?: boolean
  /** Change a signed byte after signing. */
  altered?: boolean
  status?: number
  body?: Buffer
  redirect?: string
  hang?: boolean
}

const MINUTE = 60_000

/** Issues a delegate certificate of `issuer`, with or without the purpose OCSP signing. */
function issueDelegate(
  issuer: Issued,
  key: KeyObject,
  now: number,
  signer: ResponderFaults['signer'],
): Issued {
  const until = signer === 'expired delegate' ? now - 2 * MINUTE : now + 60 * MINUTE
  const plain = issueCertificate({
    name: 'Simulated Responder',
    key,
    issuer,
    from: now - 60 * MINUTE,
    until,
    isAuthority: false,
  })
  if (signer === 'unasked delegate') return plain
  const certificate = AsnConvert.parse(plain.der, Certificate)
  const purpose = AsnConvert.serialize(new ExtendedKeyUsage([id_kp_OCSPSigning]))
  certificate.tbsCertificate.extensions?.push(
    new Extension({ extnID: id_ce_extKeyUsage, extnValue: new OctetString(purpose) }),
  )
  const body = Buffer.from(AsnConvert.serialize(certificate.tbsCertificate))
  certificate.signatureValue = new Uint8Array(
    sign('sha256', body, signer === 'forged delegate' ? key : issuer.key),
  ).buffer
  return { ...plain, der: Buffer.from(AsnConvert.serialize(certificate)) }
}

function statusOf(state: ResponderFaults['state'], now: number): CertStatus {
  if (state === 'revoked')
    return new CertStatus({ revoked: new RevokedInfo({ revocationTime: new Date(now) }) })
  return new CertStatus(state === 'unknown' ? { unknown: null } : { good: null })
}

function nameOf(signer: Issued, faults: ResponderFaults): ResponderID {
  const { subject, subjectPublicKeyInfo } = AsnConvert.parse(signer.der, Certificate).tbsCertificate
  if (faults.named_by !== 'key') return new ResponderID({ byName: subject })
  const digest = createHash('sha1').update(Buffer.from(subjectPublicKeyInfo.subjectPublicKey)).digest()
  return new ResponderID({ byKey: new KeyHash(digest) })
}

function single(about: CertID, faults: ResponderFaults, now: number): SingleResponse {
  if (faults.wrong_serial) {
    const serial = new Uint8Array(about.serialNumber.slice(0))
    serial[serial.length - 1] = ((serial.at(-1) ?? 0) + 1) & 0xff
    about.serialNumber = serial.buffer
  }
  const next = faults.next_update === undefined ? now + 24 * 60 * MINUTE : faults.next_update
  return new SingleResponse({
    certID: about,
    certStatus: statusOf(faults.state, now),
    thisUpdate: new Date(faults.this_update ?? now - MINUTE),
    ...(next !== null && { nextUpdate: new Date(next) }),
  })
}

function answer(about: CertID, issuer: Issued, other: Chain, faults: ResponderFaults, now: number): Buffer {
  const delegated = faults.signer?.endsWith('delegate')
  const delegate = delegated ? issueDelegate(issuer, other.leaf_key, now, faults.signer) : undefined
  const signer = faults.signer === 'stranger' ? other.issued.intermediate : (delegate ?? issuer)
  const data = new ResponseData({
    responderID: nameOf(signer, faults),
    producedAt: new Date(now),
    responses: [single(about, faults, now)],
  })
  const body = Buffer.from(AsnConvert.serialize(data))
  const signature = sign('sha256', body, signer.key)
  if (faults.altered) data.producedAt = new Date(now - 1000)
  const basic = new BasicOCSPResponse({
    tbsResponseData: data,
    signature: new Uint8Array(signature).buffer,
    ...(signer !== issuer && { certs: [AsnConvert.parse(signer.der, Certificate)] }),
  })
  basic.signatureAlgorithm.algorithm = '1.2.840.10045.4.3.2'
  const response = new OctetString(AsnConvert.serialize(basic))
  const responseBytes = new ResponseBytes({ responseType: id_pkix_ocsp_basic, response })
  const whole = new OCSPResponse({ responseStatus: OCSPResponseStatus.successful, responseBytes })
  return Buffer.from(AsnConvert.serialize(whole))
}

/** Opens the responder and a chain whose certificates name it. `state` may be changed at any time. */
export async function openResponder(clock: () => number) {
  const state: { faults: ResponderFaults; leaf_faults: ResponderFaults; requests: number } = {
    faults: {},
    leaf_faults: {},
    requests: 0,
  }
  const server = createServer(async (request, response) => {
    state.requests++
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const about = AsnConvert.parse(Buffer.concat(chunks), OCSPRequest).tbsRequest.requestList[0]?.reqCert
    if (about === undefined) throw new Error('the request has no certificate')
    const leaf = AsnConvert.parse(chain.issued.leaf.der, Certificate).tbsCertificate
    const isLeaf = Buffer.from(leaf.serialNumber).equals(Buffer.from(about.serialNumber))
    const faults = isLeaf ? { ...state.faults, ...state.leaf_faults } : state.faults
    if (faults.hang) return
    const issuer = isLeaf ? chain.issued.intermediate : chain.issued.root
    if (faults.redirect) response.setHeader('location', faults.redirect)
    response.statusCode = faults.status ?? 200
    response.end(faults.body ?? answer(about, issuer, other, faults, clock()))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const chain = await issueChain({ now: clock(), ocsp_url: `http://${host}/ocsp` })
  const other = await issueChain({ now: clock() })
  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  return { chain, host, state, close }
}
