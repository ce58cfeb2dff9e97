/** The cases of sdk/contract, run against the JavaScript SDK. */
import { readFileSync, writeFileSync } from 'node:fs'
import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { Behaviour, contractUrl, openRunner, readContract, type Step, Wire } from './contract.ts'

const behaviour = v.parse(Behaviour, readContract('behaviour.json'))
const wire = v.parse(Wire, readContract('wire.json'))

/** What this SDK can do of what a case may require. */
const ABILITIES = new Set(['javascript'])
const canRun = ({ requires = [] }: { requires?: string[] | undefined }) =>
  requires.every((one) => ABILITIES.has(one))

describe('wire.json', () => {
  for (const one of wire.cases.filter(canRun)) {
    test(one.name, async () => {
      const options = { ...wire.options, ...one.options }
      const run = openRunner({ device: one.device ?? wire.device, options })
      const steps: Step[] = [{ call: 'configure' }, ...one.calls, { expect: one.requests }]
      for (const step of steps) await run(step)
    })
  }
})

describe('behaviour.json', () => {
  for (const one of behaviour.cases.filter(canRun)) {
    test(one.name, async () => {
      const run = openRunner({ device: one.device ?? behaviour.device, options: behaviour.options })
      for (const [at, step] of one.steps.entries())
        await run(step).catch((error) => {
          throw new Error(`step ${at + 1}: ${error.message}`)
        })
    })
  }
})

test('the JSON Schemas are those of the runner (UPDATE=1 writes them)', () => {
  for (const [name, schema] of [
    ['wire', Wire],
    ['behaviour', Behaviour],
  ] as const) {
    const url = contractUrl(`${name}.schema.json`)
    const text = `${JSON.stringify(toJsonSchema(schema), null, 2)}\n`
    if (process.env.UPDATE) writeFileSync(url, text)
    expect(JSON.parse(readFileSync(url, 'utf8'))).toEqual(JSON.parse(text))
  }
})

test('each sentence of the contract has a case', () => {
  const topics = new Set(behaviour.cases.map((one) => one.contract.split(':')[0]))
  for (const topic of ['Identity', 'Queue', 'Answers', 'Proof retention', 'Retry', 'JavaScript'])
    expect(topics).toContain(topic)
})
