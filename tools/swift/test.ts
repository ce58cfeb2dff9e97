/**
 * Builds and tests the Swift SDK. `npm run test:swift`, with `-- --long` for long random sequences, `--sanitize` for the
 * thread sanitizer, `--due` for continuous integration, which leaves out what passed on this machine, and `--install` to get
 * the compiler only.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { at } from '../bundle.mjs'
import { SERVER } from '../due/server.ts'
import { runSuite } from '../due/suite.ts'
import { sizesIn } from './sizes.ts'
import { commandLine, FOLDER, fault } from './toolchain.ts'

const CHECKOUT = at('.')
/** The most bytes of a module's code and constants, for one architecture. */
const BYTES_MOST: Record<string, number> = { WindfallCore: 250_000 }

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Runs a command; false if it fails. */
function run(line: readonly string[], env: Record<string, string> = {}): boolean {
  const [command = '', ...args] = line
  return (
    spawnSync(command, args, { stdio: 'inherit', cwd: CHECKOUT, env: { ...process.env, ...env } }).status ===
    0
  )
}

const inSystem = (...command: string[]): boolean => run(commandLine(CHECKOUT, command))

const swift = (verb: string, ...args: string[]): string[] => ['swift', verb, '--disable-sandbox', ...args]

/** Prints the size of a module's release objects, and returns whether it is small enough. */
function measure(module: string): boolean {
  const build = swift('build', '--scratch-path', '/build', '-c', 'release', '--target', module)
  if (!inSystem(...build)) return false
  const sources = readdirSync(at(`sdk/swift/Sources/${module}`), { recursive: true, encoding: 'utf8' })
  const objects = sources
    .filter((name) => name.endsWith('.swift'))
    .map((name) => `/build/release/${module}.build/${basename(name)}.o`)
  const [command = '', ...args] = commandLine(CHECKOUT, ['size', '-A', '-d', ...objects])
  const { text, unwinding } = sizesIn(spawnSync(command, args, { encoding: 'utf8' }).stdout)
  print(`${module}: ${text} bytes of code and constants, and ${unwinding} bytes of .eh_frame`)
  return text > 0 && text <= (BYTES_MOST[module] ?? Number.POSITIVE_INFINITY)
}

function testAll({ isLong, isSanitized }: { isLong: boolean; isSanitized: boolean }): boolean {
  const more = isSanitized ? ['--sanitize=thread'] : []
  const scratch = ['--scratch-path', isSanitized ? '/build/sanitized' : '/build']
  // Without it a second runner starts, which finds no tests.
  const only = '--disable-swift-testing'
  const variables = ['WINDFALL_LONG', 'WINDFALL_SEED'].flatMap((name) =>
    process.env[name] === undefined ? [] : [`${name}=${process.env[name]}`],
  )
  const env = ['env', ...variables, ...(isLong ? ['WINDFALL_LONG=1'] : [])]
  if (!inSystem(...env, ...swift('test', only, ...scratch, ...more))) return false
  if (isSanitized) return true
  const vitest = ['node_modules/.bin/vitest', 'run', '--config', 'test/vitest.config.ts']
  return run(vitest, { WINDFALL_SUITE: 'swift' }) && readdirSync(at('sdk/swift/Sources')).every(measure)
}

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    sanitize: { type: 'boolean' },
    due: { type: 'boolean' },
    install: { type: 'boolean' },
    excuse: { type: 'string' },
  },
})
const { long: isLong = false, sanitize: isSanitized = false } = values
const suite = {
  name: 'swift',
  paths: ['Package.swift', 'sdk/swift', 'sdk/contract'],
  dependencies: ['test/swift', 'tools/swift', ...SERVER],
  folder: FOLDER,
  fault,
  test: () => testAll({ isLong, isSanitized }),
  isComplete: !isSanitized,
}
process.exitCode = await runSuite(suite, values)
