/**
 * Runs .ci/run in a fresh clone of HEAD, in a temporary folder: `npm run ci`. What is not committed is not tested. Plain
 * JavaScript without dependencies, like build.mjs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (text) => process.stdout.write(`${text}\n`)

/** The output of a git command in this checkout. Ends the program if it fails. */
function git(...args) {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status === 0) return stdout.trim()
  process.stderr.write(`git ${args.join(' ')} failed: ${error?.message ?? stderr.trim()}\n`)
  return process.exit(1)
}

/** This environment without what npm adds: a clone must not find the programs of this checkout. */
function ownEnvironment() {
  const names = Object.keys(process.env).filter((name) => !/^(npm_|INIT_CWD$|NODE$|PATH$)/.test(name))
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(root))
  return { ...Object.fromEntries(names.map((name) => [name, process.env[name]])), PATH: path.join(delimiter) }
}

/** Runs `.ci/run` in the folder; its exit code, or null if a signal ended it. Signals to this process end it, too. */
function check(folder) {
  const child = spawn(join(folder, '.ci/run'), { cwd: folder, stdio: 'inherit', env: ownEnvironment() })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
}

const commit = git('rev-parse', 'HEAD')
const name = git('log', '-1', '--format=%h %s')
if (git('status', '--porcelain') !== '') say('Uncommitted changes are not tested.')
const folder = mkdtempSync(join(tmpdir(), 'windfall-ci-'))
const began = performance.now()
git('clone', '--quiet', root, folder)
git('-C', folder, 'checkout', '--quiet', '--detach', commit)
const status = await check(folder)
const seconds = Math.round((performance.now() - began) / 1_000)
const time = `${Math.floor(seconds / 60)} min ${seconds % 60} s`
if (status === 0) say(`Passed in ${time}: ${name}`)
else if (status === null) say(`Stopped after ${time}: ${name}`)
else say(`Failed with status ${status} after ${time}: ${name}\nThe clone is kept: ${folder}`)
if (status === 0 || status === null) rmSync(folder, { recursive: true, force: true })
process.exitCode = status ?? 1
