/** Runs one test file again and again, to find the tests that fail only sometimes. */
import { join } from 'node:path'
import type { Failure } from './failures.ts'
import type { Run } from './repeats.ts'
import { ROOT, runVitest } from './vitest.ts'

/** What failed in a run, with errors that belong to no test. */
function failuresOf(file: string, { isGreen, report }: Run): readonly Failure[] {
  if (isGreen) return []
  const ofFile = (error: string): Failure => ({ file, name: '', error, isEarlyTimeout: false })
  if (report === null) return [ofFile('The run did not come to its end.')]
  const all = [...report.failures, ...report.unhandled.map(ofFile)]
  return all.length > 0 ? all : [ofFile('The run failed without a failed test.')]
}

/**
 * Runs a file of the suite `times` times, and returns what failed: its first failure and the number of runs that had one.
 * `root` has the folder `test`.
 */
export function failuresOfRuns(
  file: string,
  suite: string,
  times: number,
  print: (line: string) => void,
  root = ROOT,
): { first: Failure; runs: number }[] {
  const failures = new Map<string, { first: Failure; runs: number }>()
  for (let run = 1; run <= times; run += 1) {
    const failed = failuresOf(file, runVitest(suite, [join(root, file)], { root, isQuiet: true }))
    print(`${run} of ${times} ${file}: ${failed.length === 0 ? 'passed' : `${failed.length} failed`}`)
    const byName = new Map(failed.toReversed().map((one) => [one.name, one]))
    for (const [name, one] of byName) {
      const { first, runs } = failures.get(name) ?? { first: one, runs: 0 }
      failures.set(name, { first, runs: runs + 1 })
    }
  }
  return [...failures.values()]
}
