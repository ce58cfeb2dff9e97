import { X509Certificate } from 'node:crypto'
import { AsnConvert } from '@peculiar/asn1-schema'
import { Certificate } from '@peculiar/asn1-x509'
import { Agent } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { verifyChain } from '../../../src/apple/jws/chain.ts'
import { ocspRequestFor, responderOf } from '../../../src/apple/jws/ocsp.ts'
import { openRevocation, type RevocationOptions } from '../../../src/apple/jws/revocation.ts'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import type { Chain } from '../../../src/apple/jws/validity.ts'
import { authorityFrom, headerOf, issueChain } from '../../../src/demo/signing/authority.ts'
import { NOW } from '../samples.ts'
import { haveVectors, textOf } from '../vectors.ts'
import { openResponder, type ResponderFaults } from './responder.ts'

const MINUTE = 60_000

let now = NOW
let responder: Awaited<ReturnType<typeof openResponder>>
let dispatcher: Agent
let chain: Chain
let warnings: string[]

const proved = (made: Parameters<typeof headerOf>[0]): Chain => {
  const [leaf = '', intermediate = '', root = ''] = headerOf(made).x5c
  return verifyChain([leaf, intermediate, root], [new X509Certificate(made.root_pem)])
}

const open = (options: Partial<RevocationOptions> = {}) =>
  openRevocation({
    clock: () => now,
    hosts: [responder.host],
    dispatcher,
    log: { warn: (_, fields) => warnings.push(String(fields?.reason)) },
    ...options,
  })

beforeEach(async () => {
  now = NOW
  warnings = []
  dispatcher = new Agent()
  responder = await openResponder(() => now)
  chain = proved(responder.chain)
})
afterEach(async () => {
  await dispatcher.destroy()
  await responder.close()
})

/** Returns the result after one round of requests with these faults. */
async function checkedWith(faults: ResponderFaults) {
  responder.state.faults = faults
  const checker = open()
  expect(checker.stateOf(chain)).toBe('unknown')
  await checker.whenIdle()
  return checker.stateOf(chain)
}

describe('a response of the responder', () => {
  test.each<ResponderFaults>([
    { signer: 'issuer', named_by: 'name' },
    { signer: 'issuer', named_by: 'key' },
    { signer: 'delegate', named_by: 'name' },
    { signer: 'delegate', named_by: 'key' },
    { this_update: NOW + MINUTE, next_update: NOW + 2 * MINUTE },
  ])('is accepted: %j', async (faults) => {
    expect(await checkedWith({ ...faults, state: 'good' })).toBe('good')
    expect(await checkedWith({ ...faults, state: 'revoked' })).toBe('revoked')
    expect(warnings).toEqual([])
    expect(responder.state.requests).toBe(4)
  })

  test.each<[reason: string, faults: ResponderFaults]>([
    ['the responder is not authorized', { signer: 'stranger', named_by: 'key' }],
    ['the signature of the response is not valid', { signer: 'stranger', named_by: 'name' }],
    ['the responder is not authorized', { signer: 'unasked delegate' }],
    ['the responder is not authorized', { signer: 'expired delegate' }],
    ['the responder is not authorized', { signer: 'forged delegate' }],
    ['the signature of the response is not valid', { altered: true }],
    ['about another certificate', { wrong_serial: true }],
    ['out of date', { next_update: NOW - 2 * MINUTE }],
    ['out of date', { next_update: null }],
    ['from the future', { this_update: NOW + 2 * MINUTE }],
    ['the responder returned status 500', { status: 500 }],
    ['the responder returned status 302', { status: 302, redirect: 'http://127.0.0.1:9/' }],
    ['the response is too large', { body: Buffer.alloc(70_000) }],
    ['the responder declined: tryLater', { body: Buffer.from('30030a0103', 'hex') }],
    ['', { body: Buffer.from('not at all') }],
    ['', { body: Buffer.alloc(0) }],
  ])('has no effect if it is invalid: %s %j', async (reason, faults) => {
    expect(await checkedWith({ ...faults, state: 'revoked' })).toBe('unknown')
    expect(warnings).toHaveLength(2)
    expect(warnings[0]).toContain(reason)
  })

  test('with status unknown leaves the result unknown', async () => {
    expect(await checkedWith({ state: 'unknown' })).toBe('unknown')
  })

  test('about one certificate is enough to revoke the chain, but not for status good', async () => {
    responder.state.leaf_faults = { status: 500 }
    expect(await checkedWith({ state: 'good' })).toBe('unknown')
    expect(await checkedWith({ state: 'revoked' })).toBe('revoked')
    responder.state.leaf_faults = { state: 'revoked', status: 200 }
    expect(await checkedWith({ state: 'good' })).toBe('revoked')
  })
})

describe('OCSP requests', () => {
  test('are sent once per quarter of an hour', async () => {
    const checker = open()
    for (let round = 0; round < 3; round++) {
      checker.stateOf(chain)
      checker.stateOf(chain)
      await checker.whenIdle()
    }
    expect(responder.state.requests).toBe(2)
    now += 15 * MINUTE - 1
    expect(checker.stateOf(chain)).toBe('good')
    await checker.whenIdle()
    expect(responder.state.requests).toBe(2)
    now += 1
    expect(checker.stateOf(chain)).toBe('good')
    await checker.whenIdle()
    expect(responder.state.requests).toBe(4)
  })

  test('are sent again as soon as the response expires', async () => {
    responder.state.faults = { next_update: NOW + 5 * MINUTE }
    const checker = open()
    checker.stateOf(chain)
    await checker.whenIdle()
    now += 5 * MINUTE
    expect(checker.stateOf(chain)).toBe('good')
    now += MINUTE
    expect(checker.stateOf(chain)).toBe('unknown')
    await checker.whenIdle()
    expect(responder.state.requests).toBe(4)
  })

  test('that failed are sent again after a minute, and the last result stays valid', async () => {
    const checker = open()
    checker.stateOf(chain)
    await checker.whenIdle()
    responder.state.faults = { status: 500 }
    now += 15 * MINUTE
    checker.stateOf(chain)
    await checker.whenIdle()
    expect(checker.stateOf(chain)).toBe('good')
    expect(responder.state.requests).toBe(4)
    now += MINUTE
    expect(checker.stateOf(chain)).toBe('good')
    await checker.whenIdle()
    expect(responder.state.requests).toBe(6)
  })

  test('are sent only to the allowed hosts', async () => {
    for (const hosts of [undefined, [], ['127.0.0.1']]) {
      const checker = open({ hosts })
      checker.stateOf(chain)
      await checker.whenIdle()
      expect(checker.stateOf(chain)).toBe('unknown')
    }
    for (const ocsp_url of [`ftp://${responder.host}/`, 'nonsense', undefined]) {
      const checker = open()
      const silent = proved(await issueChain({ now: NOW, ocsp_url }))
      checker.stateOf(silent)
      await checker.whenIdle()
      expect(checker.stateOf(silent)).toBe('unknown')
    }
    expect(responder.state.requests).toBe(0)
  })

  test('end at the timeout', async () => {
    responder.state.faults = { hang: true }
    const checker = open({ timeoutMs: 20 })
    expect(checker.stateOf(chain)).toBe('unknown')
    await checker.whenIdle()
    expect(checker.stateOf(chain)).toBe('unknown')
    expect(warnings).toHaveLength(2)
  })

  test('end immediately on close, and none is sent afterwards', async () => {
    responder.state.faults = { hang: true }
    const checker = open({ timeoutMs: 1_000_000 })
    checker.stateOf(chain)
    await checker.close()
    now += 60 * MINUTE
    checker.stateOf(chain)
    await checker.whenIdle()
    expect(responder.state.requests).toBeLessThanOrEqual(2)
    expect(warnings).toEqual([])
  })
})

describe('a verifier with revocation checks', () => {
  test('refuses payloads of a revoked certificate permanently, from the response on', async () => {
    const authority = authorityFrom(responder.chain)
    const revocation = open()
    const verifier = openVerifier({ roots: [authority.root_pem], clock: () => now, revocation })
    const jws = authority.sign({ signedDate: NOW })
    responder.state.leaf_faults = { state: 'revoked' }
    expect(await verifier.verify(jws)).toMatchObject({ jws })
    await revocation.whenIdle()
    await expect(verifier.verify(jws)).rejects.toMatchObject({ code: 'revoked' })
    responder.state.leaf_faults = { state: 'good' }
    now += 60 * MINUTE
    for (let round = 0; round < 2; round++) {
      await expect(verifier.verify(jws)).rejects.toMatchObject({ code: 'revoked' })
      await revocation.whenIdle()
    }
  })

  test('still validates the chain at the payload’s date', async () => {
    const authority = authorityFrom(responder.chain)
    const revocation = open()
    const verifier = openVerifier({ roots: [authority.root_pem], clock: () => now, revocation })
    const jws = authority.sign({ signedDate: NOW })
    now += 5 * 365 * 24 * 60 * MINUTE
    expect(await verifier.verify(jws)).toMatchObject({ jws })
    await revocation.whenIdle()
    expect(await verifier.verify(jws)).toMatchObject({ jws })
  })

  test('works without the responder', async () => {
    const authority = authorityFrom(responder.chain)
    const revocation = open()
    const verifier = openVerifier({ roots: [authority.root_pem], clock: () => now, revocation })
    await responder.close()
    for (let round = 0; round < 2; round++) {
      expect(await verifier.verify(authority.sign({ round }))).toMatchObject({ payload: { round } })
      await revocation.whenIdle()
    }
  })

  test('sends no request for a payload with an invalid signature', async () => {
    const authority = authorityFrom(responder.chain)
    const revocation = open()
    const verifier = openVerifier({ roots: [authority.root_pem], clock: () => now, revocation })
    const forged = authority.sign({}).replace(/[^.]+$/, Buffer.alloc(64, 1).toString('base64url'))
    await expect(verifier.verify(forged)).rejects.toMatchObject({ code: 'signature' })
    await revocation.whenIdle()
    expect(responder.state.requests).toBe(0)
  })
})

describe.skipIf(!haveVectors)('genuine certificates', () => {
  test('name Apple’s responder, and requests use the bytes of their issuer', () => {
    const jws = textOf('apple-signed/notification.2025-10-01070838.did-renew.jws')
    const { x5c } = JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString())
    const [leaf, intermediate, root] = x5c.map(
      (der: string) => new X509Certificate(Buffer.from(der, 'base64')),
    )
    expect(responderOf(leaf)).toBe('http://ocsp.apple.com/ocsp03-wwdrg602')
    expect(responderOf(intermediate)).toBe('http://ocsp.apple.com/ocsp03-applerootcag3')
    expect(responderOf(root)).toBeNull()
    for (const [one, issuer] of [
      [leaf, intermediate],
      [intermediate, root],
    ]) {
      const { subject } = AsnConvert.parse(issuer.raw, Certificate).tbsCertificate
      expect(issuer.raw.includes(Buffer.from(AsnConvert.serialize(subject)))).toBe(true)
      const { certificateId } = ocspRequestFor(one, issuer)
      expect(Buffer.from(certificateId.serialNumber).toString('hex').toUpperCase()).toContain(
        one.serialNumber,
      )
    }
  })
})
