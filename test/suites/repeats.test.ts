/** Which failed tests run again, and what comes of it. */
import { expect, test } from 'vitest'
import type { Failure } from './failures.ts'
import { type Run, runWithRepeats } from './repeats.ts'

const failure = (name: string, others: Partial<Failure> = {}): Failure => ({
  file: 'test/cli/one.test.ts',
  name,
  error: 'expected 1 to be 2',
  isEarlyTimeout: false,
  ...others,
})
const GREEN: Run = { isGreen: true, report: { failures: [], unhandled: [] } }
const red = (...failures: Failure[]): Run => ({ isGreen: false, report: { failures, unhandled: [] } })

/** Runs the suite with these results in turn. `files` are those of the runs. */
function runs(suite: string, results: readonly Run[], left = 2) {
  const files: (string | null)[] = []
  const result = runWithRepeats(suite, left, (file) => {
    files.push(file)
    const next = results[files.length - 1]
    if (next === undefined) throw new Error('one run too many')
    return next
  })
  return { ...result, files }
}

const A = failure('a')
const B = failure('b', { file: 'test/cli/two.test.ts' })

test('a green suite runs once', () => {
  expect(runs('cli', [GREEN])).toEqual({ isGreen: true, unstable: [], files: [null] })
})

test.for(['cli', 'browser'])('a failed test of %s passes at its first or second run alone', (suite) => {
  const once = runs(suite, [red(A), GREEN])
  expect(once).toEqual({ isGreen: true, unstable: [A], files: [null, A.file] })
  expect(runs(suite, [red(A), red(A), GREEN])).toMatchObject({ isGreen: true, unstable: [A] })
  expect(runs(suite, [red(A), red(A), red(A)])).toMatchObject({ isGreen: false, unstable: [] })
})

test('each file with a failed test runs alone once, and the first error is kept', () => {
  const later = failure('a', { error: 'another' })
  expect(runs('cli', [red(A, B), red(later), GREEN, GREEN])).toEqual({
    isGreen: true,
    unstable: [A, B],
    files: [null, A.file, A.file, B.file],
  })
})

test('two tests may be unstable, over all suites and tries', () => {
  const [other, third] = [failure('other'), failure('third')]
  expect(runs('cli', [red(A, other, B)])).toMatchObject({ isGreen: false, files: [null] })
  expect(runs('cli', [red(A), red(other), GREEN])).toMatchObject({ isGreen: true, unstable: [A, other] })
  expect(runs('cli', [red(A), red(other, third)]).isGreen).toBe(false)
  expect(runs('cli', [red(A)], 0)).toMatchObject({ isGreen: false, files: [null] })
})

test.for(['core', 'faults', 'binary', 'sdk', 'shipped'])(
  'a failed assertion of %s is red at once, and so is one after a time-out',
  (suite) => {
    const early = failure('slow', { isEarlyTimeout: true })
    expect(runs(suite, [red(A)])).toMatchObject({ isGreen: false, files: [null] })
    expect(runs(suite, [red(early), red(A)]).isGreen).toBe(false)
    expect(runs(suite, [red(early, A)])).toMatchObject({ isGreen: false, files: [null] })
    expect(runs(suite, [red(early), GREEN])).toMatchObject({ isGreen: true, unstable: [early] })
  },
)

test('a run is red at once that did not end, failed without a test, or had an error outside of the tests', () => {
  const without = { isGreen: false, report: null }
  const stray = { isGreen: false, report: { failures: [A], unhandled: ['a rejection'] } }
  for (const first of [without, red(), stray]) {
    expect(runs('cli', [first])).toMatchObject({ isGreen: false, files: [null] })
    expect(runs('cli', [red(A), first])).toMatchObject({ isGreen: false, unstable: [] })
  }
})
