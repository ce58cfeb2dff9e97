/** Forgeries: payloads with a valid signature, but by the wrong key or with the wrong content. */
import { sign, X509Certificate } from 'node:crypto'
import { authorityFrom, type Chain, headerOf, signUnder } from '../../src/demo/signing/authority.ts'
import type { Random } from '../../src/demo/world/random.ts'
import { encode } from './mutations.ts'
import { renewalPayload, transactionPayload } from './samples.ts'
import { DAY, type Made, type Payload, type World } from './world.ts'

/** Returns the forgery of a valid payload. */
type Forgery = (base: Made, random: Random, world: World) => string

const BODIES = ['data', 'summary', 'externalPurchaseToken', 'appData']

const signedUnder = (change: (x5c: string[], random: Random, world: World) => object): Forgery => {
  return ({ payload, signer }, random, world) => {
    const header = headerOf(signer)
    return signUnder({ ...header, ...change(header.x5c, random, world) }, payload, signer.leaf_key)
  }
}

/** Signs a changed payload with the same authority. The change is at the top, or in the body that names the app. */
const withPayload = (change: (payload: Payload, random: Random, world: World) => Payload): Forgery => {
  return ({ payload, signer }, random, world) => {
    const body = BODIES.find((name) => name in payload)
    if (body === undefined) return signer.sign({ ...payload, ...change(payload, random, world) })
    const inside = payload[body] as Payload
    return signer.sign({ ...payload, [body]: { ...inside, ...change(inside, random, world) } })
  }
}

const dated = (when: (world: World, random: Random) => number | undefined): Forgery => {
  return ({ payload, signer }, random, world) => {
    const date = when(world, random)
    const field = 'receiptCreationDate' in payload ? 'receiptCreationDate' : 'signedDate'
    return signer.sign({ ...payload, [field]: date })
  }
}

const by = (chain: (world: World) => Chain): Forgery => {
  return ({ payload }, _, world) => authorityFrom(chain(world)).sign(payload)
}

/** Replaces one of the signed payloads in a notification of the same app. */
const holding = (inside: (world: World, environment: unknown, random: Random) => Payload): Forgery => {
  return ({ payload, signer, app }, random, world) => {
    const data = { ...(payload.data ?? {}), ...inside(world, app.environment, random) }
    return signer.sign({ ...payload, data })
  }
}

/** Returns the other valid ES256 signature: (r, s) and (r, n − s) are both valid for the same text. */
function otherSignature(jws: string): string {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const at = jws.lastIndexOf('.') + 1
  const bytes = Buffer.from(jws.slice(at), 'base64url')
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex').copy(bytes, 32)
  return jws.slice(0, at) + bytes.toString('base64url')
}

/** Signs a payload that is not UTF-8. */
function signBroken({ payload, signer }: Made): string {
  const json = Buffer.concat([Buffer.from(JSON.stringify(payload).slice(0, -1)), Buffer.from(',"x":"')])
  const bytes = Buffer.concat([json, Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
  const text = `${encode(headerOf(signer))}.${bytes.toString('base64url')}`
  const signature = sign('sha256', Buffer.from(text), { key: signer.leaf_key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

/** Signs with ES384 and a P-384 leaf: a valid signature with the wrong algorithm. */
function signLonger({ payload }: Made, chain: Chain): string {
  const text = `${encode({ ...headerOf(chain), alg: 'ES384' })}.${encode(payload)}`
  const signature = sign('sha384', Buffer.from(text), { key: chain.leaf_key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

export const FORGERIES: Record<string, Forgery> = {
  'signed again without a change': (base) => base.jws,
  'the other signature of the pair': (base) => otherSignature(base.jws),
  'signed under a header with more fields': signedUnder((_, random) =>
    random.pick([{ typ: 'JWT' }, { kid: 'Apple_Xcode_Key' }, { b64: false }, { cty: 'x' }]),
  ),
  'signed under another name for the algorithm': signedUnder((_, random) => ({
    alg: random.pick(['ES384', 'ES512', 'RS256', 'none', 'es256', 'HS256']),
  })),
  'signed under a header with crit': signedUnder(() => ({ crit: ['b64'], b64: true })),
  'signed under a very long header': signedUnder(() => ({ filler: 'x'.repeat(40_000) })),
  'signed under a shorter or longer chain': signedUnder((x5c, random) => ({
    x5c: random.pick([[], x5c.slice(0, 1), x5c.slice(0, 2), [...x5c, ...x5c]]),
  })),
  'signed under another third certificate': signedUnder((x5c, random, world) => ({
    x5c: x5c.with(2, random.pick([headerOf(world.stranger).x5c[2] ?? '', x5c[1] ?? '', '', 'AAAA'])),
  })),
  'signed under certificates in lenient base64': signedUnder((x5c, random) => ({
    x5c: x5c.map((one) =>
      random.pick([one.replaceAll('/', '_').replaceAll('+', '-'), `${one}\n`, ` ${one}`]),
    ),
  })),
  'signed by a stranger': by((world) => world.stranger),
  'signed by another leaf of the same authority': by((world) => world.same_intermediate),
  'signed by another intermediate of the same root': by((world) => world.same_root),
  'signed by an unmarked leaf': by((world) => world.odd.leaf_unmarked),
  'signed below an unmarked intermediate': by((world) => world.odd.intermediate_unmarked),
  'signed below an intermediate that is not a CA': by((world) => world.odd.intermediate_no_authority),
  'signed by a leaf that had expired': by((world) => world.odd.leaf_expired),
  'signed below an intermediate that had expired': by((world) => world.odd.intermediate_expired),
  'signed by a leaf that is a CA': by((world) => world.odd.leaf_an_authority),
  'signed by a leaf on P-384': by((world) => world.odd.leaf_on_p384),
  'signed by a leaf on P-384 with ES384': (base, _, world) => signLonger(base, world.odd.leaf_on_p384),
  'signed by one leaf with the chain of another': ({ payload, signer }, _, world) =>
    signUnder(headerOf(signer), payload, world.same_intermediate.leaf_key),
  'not in UTF-8': signBroken,
  'of another app': withPayload((_, random) =>
    random.pick([
      { bundleId: 'com.example.other' },
      { bundleId: 'COM.EXAMPLE.LANTERN' },
      { bundleId: '' },
      { bundleId: undefined },
    ]),
  ),
  'of another Apple id': withPayload((_, random) =>
    random.pick([{ appAppleId: 1 }, { appAppleId: 0 }, { appAppleId: undefined }]),
  ),
  'of another environment': withPayload((payload, random) => {
    const names = ['Production', 'Sandbox', 'Xcode', 'LocalTesting', 'production']
    const environment = random.chance(0.2) ? undefined : random.pick(names)
    return 'receiptType' in payload ? { receiptType: environment } : { environment }
  }),
  'with unknown fields': withPayload((_, random) => ({ [`field_${random.hex(4)}`]: random.uuid() })),
  'without a date': dated(() => undefined),
  'dated at the edge of the chain': dated(({ trusted }, random) => {
    const { validFromDate, validToDate } = new X509Certificate(trusted.chain[0] ?? '')
    return (
      random.pick([validFromDate, validToDate]).getTime() + random.pick([-60_001, -60_000, 0, 60_000, 60_001])
    )
  }),
  'dated long ago': dated(({ now }, random) => now - random.whole(1, 20) * 200 * DAY),
}

/** Forgeries of notifications with signed payloads in them. */
export const SWAPS: Record<string, Forgery> = {
  'holding a transaction of another app': holding((world, environment) => ({
    signedTransactionInfo: world.trusted.sign(
      transactionPayload({ environment, bundleId: 'com.example.other' }),
    ),
  })),
  'holding a transaction of another environment': holding((world, environment) => ({
    signedTransactionInfo: world.trusted.sign(
      transactionPayload({ environment: environment === 'Sandbox' ? 'Production' : 'Sandbox' }),
    ),
  })),
  'holding a renewal of another environment': holding((world, environment) => ({
    signedRenewalInfo: world.trusted.sign(
      renewalPayload({ environment: environment === 'Sandbox' ? 'Production' : 'Sandbox' }),
    ),
  })),
  'holding the renewal of another subscription': holding((world, environment, random) => ({
    signedRenewalInfo: world.trusted.sign(
      renewalPayload({ environment, originalTransactionId: random.hex(12) }),
    ),
  })),
  'holding a transaction that a stranger signed': holding((world, environment) => ({
    signedTransactionInfo: world.stranger.sign(transactionPayload({ environment })),
  })),
  'holding a text that is not signed': holding((_, __, random) => ({
    [random.pick(['signedTransactionInfo', 'signedRenewalInfo'])]: random.pick([
      'x',
      'a.b.c',
      encode({ a: 1 }),
    ]),
  })),
}

/** Forgeries of single transactions. */
export const OMISSIONS: Record<string, Forgery> = {
  'a transaction without a date': ({ payload, signer }) => signer.sign({ ...payload, signedDate: undefined }),
}
