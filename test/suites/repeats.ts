/**
 * Which failures do not yet make a suite fail. A failed test runs again with its whole file, because tests of a file depend on
 * those before them, but with nothing beside it.
 */
import type { Failure, Report } from './failures.ts'

/** The result of one run of Vitest. */
export type Run = {
  isGreen: boolean
  /** Null if the run did not come to its end. */
  report: Report | null
}

/** As many tests may pass only at a later try. More are a fault of the tests or of the program. */
export const UNSTABLE_MOST = 2
/** How often a file runs again. */
const REPEATS = 2

/** Their tests wait for browsers and commands on a busy machine. In the other suites a single failure may be a loss of data. */
const REPEATS_ANY = ['cli', 'browser']

const isRepeated = (suite: string, { isEarlyTimeout }: Failure): boolean =>
  isEarlyTimeout || REPEATS_ANY.includes(suite)

const keyOf = ({ file, name }: Failure): string => `${file}\n${name}`

/**
 * Runs `suite` with `run`, which takes a file or null for all of them, and the files of failed tests again. `left` is how many
 * tests may be unstable. Returns those that failed and passed later.
 */
export function runWithRepeats(
  suite: string,
  left: number,
  run: (file: string | null) => Run,
): { isGreen: boolean; unstable: readonly Failure[] } {
  /** The first failure of each test. */
  const failed = new Map<string, Failure>()
  const red = { isGreen: false, unstable: [] }
  /** Notes the failures of a run; false if they make the suite fail. */
  const isRepeatable = ({ report }: Run): boolean => {
    if (report === null || report.unhandled.length > 0 || report.failures.length === 0) return false
    for (const failure of report.failures) failed.set(keyOf(failure), failed.get(keyOf(failure)) ?? failure)
    return failed.size <= left && report.failures.every((failure) => isRepeated(suite, failure))
  }
  const passesAlone = (file: string): boolean => {
    for (let tries = 0; tries < REPEATS; tries += 1) {
      const again = run(file)
      if (again.isGreen) return true
      if (!isRepeatable(again)) return false
    }
    return false
  }
  const first = run(null)
  if (first.isGreen) return { isGreen: true, unstable: [] }
  if (!isRepeatable(first)) return red
  const files = new Set([...failed.values()].map(({ file }) => file))
  return [...files].every(passesAlone) ? { isGreen: true, unstable: [...failed.values()] } : red
}
