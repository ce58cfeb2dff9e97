import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifyChain } from '../../src/apple/jws/chain.ts'
import { SignatureError } from '../../src/apple/jws/signed.ts'
import { assertValidAt } from '../../src/apple/jws/validity.ts'
import { openRandom, type Random } from '../../src/demo/world/random.ts'
import { FORGERIES, OMISSIONS, SWAPS } from './forgeries.ts'
import { headerIn, MUTATIONS, partsOf } from './mutations.ts'
import { haveVectors, listVectors, readVector, textOf } from './vectors.ts'
import {
  ACCEPTED,
  type App,
  applesOfChain,
  appleVerdict,
  type Kind,
  type Submission,
  type Verdict,
  windfallVerdict,
} from './verdicts.ts'
import { type Made, openWorld, type Payload, type World } from './world.ts'

const SEED = process.env.WINDFALL_SEED ?? 'verdicts'
const MUTATED = process.env.WINDFALL_LONG === '1' ? 5_000 : 500

/** Whether a text is the canonical encoding of its bytes. */
const isCanonical = (text: string, encoding: 'base64' | 'base64url') =>
  Buffer.from(text, encoding).toString(encoding) === text

const payloadIn = (jws: string): Payload =>
  JSON.parse(Buffer.from(partsOf(jws)[1], 'base64url').toString('utf8'))
const insideOf = (jws: string): Payload[] =>
  Object.entries(payloadIn(jws).data ?? {})
    .filter(([name]) => name.startsWith('signed'))
    .map(([, inside]) => payloadIn(String(inside)))
const third = (submission: Submission) => Buffer.from(headerIn(submission.jws).x5c[2] ?? '', 'base64')
const isThirdPinned = (submission: Submission) =>
  new X509Certificate(submission.root_pem).raw.equals(third(submission))
const isLeafAuthority = ({ jws }: Submission) =>
  new X509Certificate(Buffer.from(headerIn(jws).x5c[0] ?? '', 'base64')).ca
const isUtf8 = (bytes: Buffer) => Buffer.from(bytes.toString('utf8')).equals(bytes)

/**
 * The known differences between Windfall's verdict and that of Apple's library. In each, Apple's library accepts and
 * Windfall refuses with this code, for this reason. None affects payloads that Apple sends.
 */
const DIFFERENCES: { code: Verdict; reason: string; holds: (submission: Submission) => boolean }[] = [
  {
    code: 'not_a_jws',
    reason: 'stray bits in the last base64url character give one signed payload several texts',
    holds: ({ jws }) => partsOf(jws).some((part) => !isCanonical(part, 'base64url')),
  },
  {
    code: 'root',
    reason: 'the third certificate is not the pinned root; Apple’s library does not check it',
    holds: (submission) => !isThirdPinned(submission),
  },
  {
    code: 'chain',
    reason: 'a certificate is not in strict base64 (RFC 7515 §4.1.6)',
    holds: ({ jws }) => headerIn(jws).x5c.some((one) => !isCanonical(one, 'base64')),
  },
  { code: 'chain', reason: 'the signing certificate is a certificate authority', holds: isLeafAuthority },
  {
    code: 'algorithm',
    reason: 'ES384 by a P-384 key; Apple’s documentation names only ES256',
    holds: ({ jws }) => headerIn(jws).alg === 'ES384',
  },
  {
    code: 'header',
    reason: 'the header requires unknown extensions (RFC 7515 §4.1.11)',
    holds: ({ jws }) => 'crit' in headerIn(jws),
  },
  {
    code: 'header',
    reason: 'the header is longer than 32 KiB; Apple’s has 4',
    holds: ({ jws }) => partsOf(jws)[0].length > 32_768,
  },
  {
    code: 'payload',
    reason: 'the payload is not UTF-8; Apple’s library replaces invalid bytes',
    holds: ({ jws }) => !isUtf8(Buffer.from(partsOf(jws)[1], 'base64url')),
  },
  {
    code: 'payload',
    reason: 'a transaction without a signing date, which orders its versions; Apple always sends one',
    holds: ({ kind, jws }) => kind === 'transaction' && !('signedDate' in payloadIn(jws)),
  },
  {
    code: 'mismatch',
    reason: 'the renewal is for another subscription than the transaction in the same notification',
    holds: ({ jws }) => new Set(insideOf(jws).map((part) => part.originalTransactionId)).size === 2,
  },
  {
    code: 'xcode',
    reason: 'configured for Xcode, Apple’s library accepts unsigned payloads',
    holds: ({ app }) => app.environment === 'Xcode',
  },
]

/** Verdicts that occur in hundreds of random mutations. If one is missing, the mutations test too little. */
const REQUIRED_DIFFERENCES: readonly Verdict[] = [
  'not_a_jws',
  'header',
  'algorithm',
  'chain_length',
  'root',
  'chain',
  'not_a_ca',
  'marker',
  'not_valid_then',
  'signature',
  'payload',
  'mismatch',
  'another app',
]

const seen = new Set<string>()

/** Fails unless both verdicts agree, or the difference is listed and Windfall is stricter. */
async function compare(submission: Submission, what: string): Promise<Verdict> {
  const [windfall, library] = await Promise.all([windfallVerdict(submission), appleVerdict(submission)])
  if ((windfall === ACCEPTED) === (library === ACCEPTED)) return windfall
  const known = DIFFERENCES.find(
    ({ code, holds }) => code === windfall && library === ACCEPTED && holds(submission),
  )
  if (known === undefined) {
    expect.fail(
      `${what}: Windfall’s verdict ${windfall}, Apple’s ${library} (WINDFALL_SEED=${SEED})\n${submission.jws}`,
    )
  }
  seen.add(known.reason)
  return windfall
}

/** Sometimes verifies the payload for another app. */
function configured(app: App, random: Random): App {
  return random.weighted<{ weight: number; app: App }>([
    { weight: 12, app },
    { weight: 1, app: { ...app, bundle_id: 'com.example.another' } },
    { weight: 1, app: { ...app, apple_id: 42 } },
    { weight: 1, app: { ...app, environment: app.environment === 'Sandbox' ? 'Production' : 'Sandbox' } },
  ]).app
}

type Change = { what: string; make: (random: Random, world: World) => Submission }

function changes<Text extends Submission>(
  list: Record<string, (base: Text, random: Random, world: World) => string>,
  texts: (world: World) => Text[],
): Change[] {
  return Object.entries(list).map(([what, change]) => ({
    what,
    make(random, world) {
      const base = random.pick(texts(world))
      return { ...base, jws: change(base, random, world) }
    },
  }))
}

const holdsParts = ({ payload }: Made) => JSON.stringify(payload.data)?.includes('signedRenewalInfo') === true

/** Each mutation with the valid payloads that it applies to. */
const CHANGES: Change[] = [
  ...changes<Submission>(MUTATIONS, ({ made, genuine }) => [...made, ...genuine]),
  ...changes(FORGERIES, ({ made }) => made),
  ...changes(SWAPS, ({ made }) => made.filter(holdsParts)),
  ...changes(OMISSIONS, ({ made }) => made.filter(({ kind }) => kind === 'transaction')),
]

test(`${MUTATED} mutations of valid payloads get the same verdict as from Apple’s library (seed ${SEED})`, async () => {
  const world = await openWorld()
  const random = openRandom(SEED)
  const verdicts = new Map<Verdict, number>()
  for (let index = 0; index < MUTATED; index++) {
    const { what, make } = CHANGES[index % CHANGES.length] ?? expect.fail('nothing to change')
    const made = make(random, world)
    const submission = { ...made, app: configured(made.app, random) }
    const verdict = await compare(submission, `${index}, ${submission.kind}, ${what}`)
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
  }
  expect(verdicts.get(ACCEPTED)).toBeGreaterThan(MUTATED / 20)
  for (const code of REQUIRED_DIFFERENCES) expect(verdicts.has(code), code).toBe(true)
}, 120_000)

describe.skipIf(!haveVectors)('payloads made by Apple', () => {
  const apps = (app: App): App[] => [
    app,
    { ...app, bundle_id: 'com.example.another' },
    { ...app, environment: 'Production' },
  ]

  test('and signed get the same verdict, for the right app and for others', async () => {
    const { genuine } = await openWorld()
    expect(genuine.length).toBeGreaterThan(7)
    for (const base of genuine) {
      const [right, ...wrong] = apps(base.app).map((app) => ({ ...base, app }))
      expect(await compare(right ?? base, base.kind)).toBe(ACCEPTED)
      for (const submission of wrong) expect(await compare(submission, base.kind)).not.toBe(ACCEPTED)
    }
  })

  test('for tests of its library get the same verdict under their root', async () => {
    const root_pem = new X509Certificate(readVector('apple-library/certs/testCA.der')).toString()
    const app: App = { bundle_id: 'com.example', apple_id: 1234, environment: 'Sandbox' }
    const verdicts: Record<string, Verdict> = {}
    const kinds: Record<string, Kind> = { renewalInfo: 'renewal', transactionInfo: 'transaction' }
    for (const name of listVectors('apple-library/mock_signed_data/')) {
      const jws = textOf(`apple-library/mock_signed_data/${name}`)
      verdicts[name] = await compare({ kind: kinds[name] ?? 'notification', jws, root_pem, app }, name)
    }
    expect(verdicts).toEqual({
      legacyTransaction: 'not_a_jws',
      missingX5CHeaderClaim: 'chain_length',
      renewalInfo: ACCEPTED,
      testNotification: 'root',
      transactionInfo: 'root',
      wrongBundleId: 'environment',
    })
  })

  test('and signed by Xcode are always refused', async () => {
    const { genuine } = await openWorld()
    const root_pem = genuine[0]?.root_pem ?? ''
    for (const environment of ['Production', 'Sandbox', 'Xcode'] as const) {
      const app = { bundle_id: 'com.example.naturelab.backyardbirds.example', apple_id: 1, environment }
      for (const name of listVectors('apple-library/xcode/')) {
        const jws = textOf(`apple-library/xcode/${name}`)
        for (const kind of ['transaction', 'renewal', 'app transaction', 'notification'] as const) {
          const verdict = await compare({ kind, jws, root_pem, app }, `${name} as ${kind}`)
          expect(verdict).toBe(name.includes('signed') ? 'xcode' : 'not_a_jws')
        }
      }
    }
  })

  test('with certificates in every combination get the same verdict', async () => {
    const file = (name: string) => readVector(`apple-library/certs/${name}.der`)
    const root = file('testCA')
    const at = Date.UTC(2024, 0)
    const mine = (leaf: Buffer, intermediate: Buffer): Verdict => {
      try {
        const [one = '', two = '', three = ''] = [leaf, intermediate, root].map((der) =>
          der.toString('base64'),
        )
        assertValidAt(verifyChain([one, two, three], [new X509Certificate(root)]), at)
        return ACCEPTED
      } catch (error) {
        if (error instanceof SignatureError) return 'refused'
        throw error
      }
    }
    const names = listVectors('apple-library/certs/').map((name) => name.replace('.der', ''))
    const accepted: string[] = []
    for (const leaf of names) {
      for (const intermediate of names) {
        const verdict = mine(file(leaf), file(intermediate))
        expect(verdict, `${leaf} below ${intermediate}`).toBe(
          await applesOfChain([file(leaf), file(intermediate)], root, at),
        )
        if (verdict === ACCEPTED) accepted.push(`${leaf} below ${intermediate}`)
      }
    }
    expect(accepted.sort()).toEqual([
      'chain-leaf below chain-intermediate',
      'chain-leaf-of-invalid-oid-intermediate below chain-intermediate',
    ])
  })
})

test.skipIf(!haveVectors)('every difference on the list was met, so that the list says what is so', () => {
  expect(DIFFERENCES.filter(({ reason }) => !seen.has(reason)).map(({ reason }) => reason)).toEqual([])
})
