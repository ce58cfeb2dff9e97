/** The search for tests that fail only sometimes. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runScript, sampleOf } from './sample.ts'
import { suiteOf } from './suites.ts'

test('a file that runs again and again says which tests failed, how often, and with which error first', () => {
  const { root, file, tries } = sampleOf(
    'cli',
    `test('odd', () => expect(tries % 2).toBe(0))
    test('second', () => expect(tries).not.toBe(2))
    test('sound', () => {})`,
  )
  const { stdout } = runScript(
    'again.ts',
    'failuresOfRuns',
    `const found = failuresOfRuns(${JSON.stringify(file)}, 'cli', 3, () => {}, ${JSON.stringify(root)})
    process.stdout.write(JSON.stringify(found))`,
  )
  expect(JSON.parse(stdout)).toEqual([
    {
      first: expect.objectContaining({ file, name: 'odd', error: expect.stringContaining('1 to be +0') }),
      runs: 2,
    },
    { first: expect.objectContaining({ file, name: 'second' }), runs: 1 },
  ])
  expect(tries()).toBe(3)
})

const command = fileURLToPath(new URL('unstable.ts', import.meta.url))
const unstable = (...args: string[]) => spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' })

test('the command counts the runs of a file, and ends with 0 if none failed', () => {
  const { status, stdout } = unstable('--times', '2', 'test/money.test.ts')
  expect(stdout).toBe(`1 of 2 test/money.test.ts: passed
2 of 2 test/money.test.ts: passed

No test failed in 2 runs.
`)
  expect(status).toBe(0)
})

test.for([
  [['--times', '0', 'test/money.test.ts'], '--times 0 is not a number of runs'],
  [['--times', 'many', 'test/money.test.ts'], '--times many is not a number of runs'],
  [[], 'Name a test file.'],
  [['test/no_such.test.ts'], 'test/no_such.test.ts is not a test file of this repository.'],
  [['test/helpers.ts'], 'test/helpers.ts is not a test file of this repository.'],
  [['../money.test.ts'], '../money.test.ts is not a test file of this repository.'],
  [['--time', '3'], "Unknown option '--time'"],
] as const)('wrong use of the command says what is wrong: %s', ([args, message]) => {
  const { status, stderr } = unstable(...args)
  expect(stderr).toContain(message)
  expect(stderr).toContain('Usage: npm run unstable')
  expect(status).toBe(2)
})

test('each test file belongs to one suite', () => {
  expect(suiteOf('test/money.test.ts')).toBe('core')
  expect(suiteOf('test/cli/json.test.ts')).toBe('cli')
  expect(suiteOf('test/browser/views.test.ts')).toBe('browser')
  expect(suiteOf('test/cli/data/sql.fault.ts')).toBe('faults')
  expect(suiteOf('test/faults/crash.test.ts')).toBe('faults')
  expect(suiteOf('test/swift/process.test.ts')).toBe('swift')
  expect(suiteOf('test/setup.ts')).toBeUndefined()
})
