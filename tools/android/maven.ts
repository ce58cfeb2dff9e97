/**
 * Maven, with a repository of its own outside the checkout. It is there when the build and a test of a stub ran: nothing less
 * shows what plugins load while they work.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { at } from '../bundle.mjs'
import { cacheFolder } from '../due/cache.ts'
import { faultOf } from '../due/fault.ts'

/** The repository and the hash of the last files that passed are in it. */
export const FOLDER = process.env.WINDFALL_ANDROID ?? cacheFolder('windfall-android')
export const PROJECT = at('sdk/android')
const INSTALLED = join(FOLDER, 'installed')

const COPIED = [
  'pom.xml',
  '.mvn',
  ...['AndroidManifest.xml', 'aar-metadata.properties', 'consumer-rules.pro', 'library-rules.pro'].map(
    (name) => `src/main/${name}`,
  ),
]
const STUB: Record<string, string> = {
  'src/sample/kotlin/Sample.java': 'final class Sample {}\n',
  'src/main/kotlin/Stub.kt': 'internal class Stub\n',
  'src/test/kotlin/StubTest.kt': 'class StubTest {\n    @org.junit.Test\n    fun runs() = Unit\n}\n',
}

/** The command line of Maven. */
export const commandLine = (...args: readonly string[]): string[] => [
  'mvn',
  '--batch-mode',
  '--no-transfer-progress',
  '-Dstyle.color=never',
  `-Dmaven.repo.local=${join(FOLDER, 'repository')}`,
  ...args,
]

/** What is downloaded depends on it. */
const hashOfProject = (): string =>
  createHash('sha256')
    .update(readFileSync(join(PROJECT, 'pom.xml')))
    .digest('hex')

function isInstalled(): boolean {
  try {
    return readFileSync(INSTALLED, 'utf8') === hashOfProject()
  } catch {
    return false
  }
}

/** @throws Error with the first faults that Maven printed. */
function runStub(folder: string): void {
  for (const path of COPIED) cpSync(join(PROJECT, path), join(folder, path), { recursive: true })
  for (const [path, text] of Object.entries(STUB)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const [command = '', ...args] = commandLine('--quiet', '--update-snapshots', '-Dquick=true', 'test')
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return
  if (error) throw new Error(`Maven does not start: ${error.message}`)
  const faults = [...`${stdout}${stderr}`.matchAll(/\[ERROR\] (.+)/g)].map(([, text]) => text)
  throw new Error(faults.slice(0, 2).join('; '))
}

function install(): void {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-'))
  try {
    runStub(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(INSTALLED, hashOfProject())
}

/** Downloads what is missing. Returns why it is not there, or null. */
export const fault = (): string | null => faultOf(isInstalled, install)
