/** A suite of small test files, run by Vitest as continuous integration runs the others. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runScript, sampleOf } from './sample.ts'

/** Runs `suite` with one file of this text, and returns what it printed and how often the file ran. */
function run(suite: string, text: string) {
  const { root, tries } = sampleOf(suite, text)
  const collected = join(root, 'unstable')
  const { status, stdout } = runScript(
    'suite.ts',
    'runSuite',
    `process.exitCode = runSuite(${JSON.stringify(suite)}, ['--no-cache'], ${JSON.stringify(root)})`,
    { WINDFALL_UNSTABLE: collected },
  )
  return {
    status,
    stdout,
    tries: tries(),
    collected: existsSync(collected) ? readFileSync(collected, 'utf8') : '',
  }
}

test('a test of the commands that fails once is printed as unstable, with its error', () => {
  const { status, stdout, tries, collected } = run(
    'cli',
    `describe('group', () => {
      test('passes at a second try', () => expect(tries).toBe(2))
    })`,
  )
  const line = 'UNSTABLE test/cli/sample.test.ts: group > passes at a second try\n  expected 1 to be 2'
  expect(stdout).toContain('Running test/cli/sample.test.ts again, alone')
  expect(stdout).toContain(line)
  expect(collected).toMatch(line)
  expect([status, tries]).toEqual([0, 2])
})

test('a test that never passes fails after the third try, and so does a file that does not load', () => {
  expect(run('cli', `test('fails', () => expect(tries).toBe(0))`)).toMatchObject({
    status: 1,
    tries: 3,
    collected: '',
  })
  expect(run('cli', `throw new Error('not loaded')`)).toMatchObject({ status: 1, tries: 3 })
})

test('a rejection that nothing handles is not repeated', () => {
  const text = `test('passes', () => void Promise.reject(new Error('stray')))`
  expect(run('cli', text)).toMatchObject({ status: 1, tries: 1 })
})

const endless = '() => new Promise(() => {})'

test('a test of faults runs again only if its time was over before an assertion', () => {
  const asserted = `test('waits', async () => {
    expect(1).toBe(1)
    await new Promise(() => {})
  }, 50)`
  expect(run('faults', `test('fails', () => expect(tries).toBe(2))`)).toMatchObject({ status: 1, tries: 1 })
  expect(run('faults', asserted)).toMatchObject({ status: 1, tries: 1 })
  expect(run('faults', `test('waits', tries === 1 ? ${endless} : () => {}, 50)`)).toMatchObject({
    status: 0,
    tries: 2,
    collected: expect.stringMatching(/^UNSTABLE test\/sample\.fault\.ts: waits\n {2}Test timed out in 50ms/),
  })
})

test('a hook of faults counts as before the assertions of its file only if there are none', () => {
  const before = `beforeAll(tries === 1 ? ${endless} : () => {}, 50)
  test('passes', () => expect(1).toBe(1))`
  expect(run('faults', before)).toMatchObject({ status: 0, tries: 2 })
  expect(run('faults', before.replace('beforeAll', 'afterAll'))).toMatchObject({ status: 1, tries: 1 })
})
