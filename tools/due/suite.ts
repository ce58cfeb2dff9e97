/** Runs the tests of an SDK when they are due. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at } from '../bundle.mjs'
import { isDue, isExcused } from './decision.ts'
import { hashOfBase, hashOfCheckout, hashOfLanded } from './sources.ts'

type Suite = {
  name: string
  /** The files of the SDK, from the top of the repository. Without what the tests need, a change of them fails. */
  paths: readonly string[]
  /** What the tests use beside that. */
  dependencies: readonly string[]
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
  const used = [...suite.paths, ...suite.dependencies]
  const now = hashOfCheckout(checkout, used)
  if (due && !isDue({ now, green: textOf(greenFile), base: hashOfBase(checkout, used) })) {
    print(`${suite.name}: nothing changed since the last run, or since the main branch`)
    return 0
  }
  const reason = excuse ?? suite.fault()
  if (reason !== null) {
    print(`NOT RUN: ${suite.name} (${reason})`)
    const own = { now: hashOfCheckout(checkout, suite.paths), landed: hashOfLanded(checkout, suite.paths) }
    return due && isExcused(own) ? 0 : 1
  }
  if (install) return 0
  if (!(await suite.test())) return 1
  if (suite.isComplete) {
    mkdirSync(suite.folder, { recursive: true })
    writeFileSync(greenFile, `${now}\n`)
  }
  return 0
}
