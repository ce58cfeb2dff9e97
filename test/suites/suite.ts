/**
 * Runs a suite. A test that only passes at a later try is printed as UNSTABLE, and added to the file that `WINDFALL_UNSTABLE`
 * names, in which continuous integration collects those of all suites.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Failure } from './failures.ts'
import { runWithRepeats, UNSTABLE_MOST } from './repeats.ts'
import { ROOT, runVitest } from './vitest.ts'

const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** A test in one line, and its first error in the lines below. */
export const described = (word: string, { file, name, error }: Failure): string =>
  `${word} ${file}${name && `: ${name}`}\n${error.trim().replaceAll(/^/gm, '  ')}`

/** How many tests of earlier suites are in this file. */
const unstableIn = (path: string | undefined): number =>
  path !== undefined && existsSync(path) ? (readFileSync(path, 'utf8').match(/^UNSTABLE /gm) ?? []).length : 0

/** Runs the suite with these arguments of Vitest, and returns the exit code. `root` has its folder `test`. */
export function runSuite(suite: string, args: readonly string[], root = ROOT): number {
  const { WINDFALL_UNSTABLE: collected } = process.env
  const earlier = unstableIn(collected)
  const { unstable, isGreen } = runWithRepeats(suite, UNSTABLE_MOST - earlier, (file) => {
    if (file !== null) print(`\nRunning ${file} again, alone`)
    return runVitest(suite, file === null ? args : [join(root, file)], { root })
  })
  if (!isGreen && earlier > 0)
    print(`\nUnstable tests of earlier suites: ${earlier}. All suites together may have ${UNSTABLE_MOST}.`)
  const text = unstable.map((one) => `${described('UNSTABLE', one)}\n`).join('')
  if (text !== '') print(`\n${text}`)
  if (collected !== undefined) appendFileSync(collected, text)
  return isGreen ? 0 : 1
}
