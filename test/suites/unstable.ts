/** Runs a test file again and again, and reports which tests failed: `npm run unstable -- --times 20 FILE…`. */
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { failuresOfRuns } from './again.ts'
import { described } from './suite.ts'
import { suiteOf } from './suites.ts'
import { ROOT } from './vitest.ts'

const USAGE = `Usage: npm run unstable -- [--times 20] FILE…

Runs each file as often as --times says, and reports the tests that failed, how often, and their first errors.
Files of the suites sdk and binary need npm run build:sdk or build:binary before.
`

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function fail(text: string): never {
  process.stderr.write(`${text}\n\n${USAGE}`)
  process.exit(2)
}

function parsed() {
  try {
    return parseArgs({ options: { times: { type: 'string', default: '20' } }, allowPositionals: true })
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

const { values, positionals } = parsed()
const times = Number(values.times)
if (!Number.isInteger(times) || times < 1) fail(`--times ${values.times} is not a number of runs`)
if (positionals.length === 0) fail('Name a test file.')
const files = positionals.map((path) => relative(ROOT, resolve(path)))
const unknown = files.find((file) => suiteOf(file) === undefined || !existsSync(join(ROOT, file)))
if (unknown !== undefined) fail(`${unknown} is not a test file of this repository.`)
const failures = files.flatMap((file) => failuresOfRuns(file, suiteOf(file) ?? '', times, print))
for (const { first, runs } of failures.toSorted((a, b) => b.runs - a.runs)) {
  print(`\n${described(`FAILED ${runs} of ${times}:`, first)}`)
}
if (failures.length === 0) print(`\nNo test failed in ${times} runs.`)
process.exitCode = failures.length === 0 ? 0 : 1
