/** Runs the tests of an SDK when they are due. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at } from '../bundle.mjs'
import { isDue, isExcused } from './decision.ts'
import { hashOfCheckout, hashOfLanded } from './sources.ts'

type Suite = {
  name: string
  /** What the tests depend on, from the top of the repository. */
  paths: readonly string[]
  /** Keeps the hash of the files that passed. */
  folder: string
  /** Gets what the tests need. Returns why it is not there, or null. */
  fault: () => string | null
  /** Returns whether the tests pass. */
  test: () => boolean | Promise<boolean>
  /** Whether files that pass need no further run. */
  isComplete: boolean
}

type Flags = {
  /** Leaves out what passed on this machine, for continuous integration. */
  due?: boolean | undefined
  /** Only gets what the tests need. */
  install?: boolean | undefined
  /** Why the tests cannot run now. */
  excuse?: string | undefined
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}

/** Returns the exit code. */
export async function runSuite(
  suite: Suite,
  { due = false, install = false, excuse }: Flags,
): Promise<number> {
  const [checkout, greenFile] = [at('.'), join(suite.folder, 'green')]
  const hashes = {
    now: hashOfCheckout(checkout, suite.paths),
    green: textOf(greenFile),
    landed: hashOfLanded(checkout, suite.paths),
  }
  if (due && !isDue(hashes)) {
    print(`${suite.name}: nothing changed since the last run`)
    return 0
  }
  const reason = excuse ?? suite.fault()
  if (reason !== null) {
    print(`NOT RUN: ${suite.name} (${reason})`)
    return due && isExcused(hashes) ? 0 : 1
  }
  if (install) return 0
  if (!(await suite.test())) return 1
  if (suite.isComplete) writeFileSync(greenFile, `${hashes.now}\n`)
  return 0
}
