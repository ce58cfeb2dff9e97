/** The cases of sdk/contract, run against the JavaScript SDK. */
import { readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { clientDataHash } from '../../src/attribution/devices/assertions.ts'
import { sha256Of } from '../../src/ids.ts'
import { asAndroid, openRunner } from './contract.ts'
import { Behaviour, contractUrl, JSON_SCHEMAS, type Purchase, readContract, Wire } from './contract_format.ts'

const behaviour = v.parse(Behaviour, readContract('behaviour.json'))
const wire = v.parse(Wire, readContract('wire.json'))
type WireCase = (typeof wire.cases)[number]
type BehaviourCase = (typeof behaviour.cases)[number]

/** What this SDK can do of what a case may require. */
const ABILITIES = ['javascript', 'app_store', 'google_play', 'storage_faults']
/** What is left of that on Android, in the forms that an SDK for Android has. */
const ABILITIES_ON_ANDROID = ['google_play', 'storage_faults']

type Required = { requires?: string[] | undefined }
const casesFor = <T extends Required>(cases: readonly T[], abilities: readonly string[]): T[] =>
  cases.filter(({ requires = [] }) => requires.every((one) => abilities.includes(one)))

async function runWire({ device = wire.device, ...one }: WireCase): Promise<void> {
  const run = openRunner({ device, options: { ...wire.options, ...one.options } })
  for (const step of [{ call: 'configure' } as const, ...one.calls, { expect: one.requests }]) await run(step)
}

async function runBehaviour({ device = behaviour.device, steps }: BehaviourCase): Promise<void> {
  const run = openRunner({ device, options: behaviour.options })
  for (const [at, step] of steps.entries())
    await run(step).catch((error) => {
      throw new Error(`step ${at + 1}: ${error.message}`)
    })
}

describe('wire.json', () => {
  for (const one of casesFor(wire.cases, ABILITIES)) test(one.name, () => runWire(one))
})

describe('behaviour.json', () => {
  for (const one of casesFor(behaviour.cases, ABILITIES)) test(one.name, () => runBehaviour(one))
})

describe('as an SDK for Android runs the cases', () => {
  const device = asAndroid(wire.device)
  for (const one of casesFor(wire.cases, ABILITIES_ON_ANDROID))
    test(one.name, () => runWire(asAndroid({ device, ...one })))
  // A thousand items take long, and the platform changes nothing for them.
  const isShort = ({ steps }: BehaviourCase) => !steps.some((step) => 'repeat' in step && step.repeat > 100)
  for (const one of casesFor(behaviour.cases, ABILITIES_ON_ANDROID).filter(isShort))
    test(one.name, () => runBehaviour(asAndroid({ device, ...one })))
})

test('the JSON Schemas are those of the runner (UPDATE=1 writes them)', () => {
  for (const [name, schema] of Object.entries(JSON_SCHEMAS)) {
    const url = contractUrl(`${name}.schema.json`)
    const text = `${JSON.stringify(schema, null, 2)}\n`
    if (process.env.UPDATE) writeFileSync(url, text)
    expect(JSON.parse(readFileSync(url, 'utf8'))).toEqual(JSON.parse(text))
  }
})

/** The purchases that a case makes or observes. */
function purchasesIn(one: object): Purchase[] {
  const found: Purchase[] = []
  JSON.stringify(one, (name, value) => {
    if (name === 'purchase' || name === 'observe') found.push(value)
    return value
  })
  return found
}

/** What a case without `javascript` must require, because its steps have this. */
const IMPLIED: readonly [RegExp, string][] = [
  [/"jws":/, 'app_store'],
  [/"purchaseToken":/, 'google_play'],
  [/"storage":"(refuses|cannot)/, 'storage_faults'],
  [/"attestation":|"enrolment":|Bearer dt_/, 'attestation'],
]
const FIELDS = [
  'originalTransactionId',
  'transactionId',
  'productId',
  'jws',
  'purchaseToken',
  'purchaseState',
]

test('cases that do not require javascript use the fields of every language, and state what they require', () => {
  const cases: (Required & { name: string })[] = [...wire.cases, ...behaviour.cases]
  for (const one of cases.filter(({ requires = [] }) => !requires.includes('javascript'))) {
    for (const purchase of purchasesIn(one))
      expect(FIELDS, one.name).toEqual(expect.arrayContaining(Object.keys(purchase)))
    const implied = IMPLIED.filter(([pattern]) => pattern.test(JSON.stringify(one))).map(([, name]) => name)
    expect(one.requires ?? [], one.name).toEqual(expect.arrayContaining(implied))
  }
})

test('the hashes are those that the server computes', () => {
  for (const { challenge, path, body, sha256 } of wire.hashes) {
    const hash =
      challenge === undefined
        ? clientDataHash(path ?? '', Buffer.from(body ?? ''))
        : sha256Of(Buffer.from(challenge, 'base64url'))
    expect(hash.toString('base64')).toBe(sha256)
  }
  expect(wire.hashes.length).toBeGreaterThan(2)
})

test('each sentence of the contract has a case', () => {
  const topics = new Set(behaviour.cases.map((one) => one.contract.split(':')[0]))
  for (const topic of ['Identity', 'Queue', 'Answers', 'Proof retention', 'Retry', 'Attestation'])
    expect(topics).toContain(topic)
})
