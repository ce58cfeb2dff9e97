/**
 * What a start evaluates: a static import is evaluated with the file that has it, and `await import()` when it runs. A
 * package that is listed here by mistake costs every start its time and memory.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, expect, test } from 'vitest'
import { buildOf, serverOptions } from '../../tools/bundle.mjs'
import { temporaryFolder } from '../folders.ts'

/** The files that each file of the bundle imports statically. */
let imports: ReadonlyMap<string, readonly string[]>

beforeAll(async () => {
  const { metafile } = await build({ ...serverOptions(buildOf('test')), write: false, metafile: true })
  const isStatic = ({ kind }: { kind: string }): boolean =>
    kind === 'import-statement' || kind === 'require-call'
  imports = new Map(
    Object.entries(metafile.inputs).map(([file, input]) => [
      file,
      input.imports.filter(isStatic).map(({ path }) => path),
    ]),
  )
})

/** `entries` and every file that is evaluated with them. */
function evaluatedWith(...entries: string[]): Set<string> {
  const found = new Set<string>()
  const waiting = [...entries]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    found.add(file)
    waiting.push(...(imports.get(file) ?? []))
  }
  return found
}

const packagesIn = (files: ReadonlySet<string>): string[] => {
  const names = [...files].flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [])
  return [...new Set(names)].sort()
}

/** What reads the command line and the configuration. */
const CONFIGURATION = [
  'citty',
  'consola',
  'croner',
  'eslint-visitor-keys',
  'fastest-levenshtein',
  'ipaddr.js',
  'smol-toml',
  'toml-eslint-parser',
  'valibot',
]

/** The files that run before the server listens. */
const BEFORE_LISTENING = ['src/main.ts', 'src/cli/cli.ts', 'src/cli/serve.ts'] as const

test('the server listens before h3 and the modules of the program are evaluated', () => {
  const files = evaluatedWith(...BEFORE_LISTENING)
  expect(files.size).toBeGreaterThan(30)
  expect(
    [...files].filter((file) => /^src\/(ledger|metrics|attribution|forwarding|jobs|api|web)\//.test(file)),
  ).toEqual([])
  expect(packagesIn(files)).toEqual(CONFIGURATION)
})

test('the start evaluates no package that only later work needs', () => {
  const files = evaluatedWith(...BEFORE_LISTENING, 'src/app.ts', 'src/http/server.ts', 'src/control/verbs.ts')
  expect(files).toContain('src/metrics/metrics.ts')
  expect(
    [...files].filter((file) => /^src\/(demo|cli\/(demo|connect|doctor|webhooks))\//.test(file)),
  ).toEqual([])
  expect(packagesIn(files)).toEqual([...CONFIGURATION, 'h3', 'rou3', 'srvx'].sort())
})

/** A folder with the built program, but without its cache. */
function builtProgram(): string {
  const { path } = temporaryFolder()
  const root = fileURLToPath(new URL('../..', import.meta.url))
  for (const name of ['windfall.mjs', 'windfall.cjs'])
    copyFileSync(join(root, 'dist', name), join(path, name))
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  return path
}

const versionOf = (folder: string): string =>
  execFileSync(process.execPath, [join(folder, 'windfall.mjs'), '--version'], { encoding: 'utf8', env: {} })

test('the compiled program is kept beside the program, for its user only', () => {
  const folder = builtProgram()
  expect(versionOf(folder)).toMatch(/\d+\.\d+\.\d+/)
  expect(statSync(join(folder, 'cache/commands')).mode & 0o777).toBe(0o700)
})

test('the program runs where its cache cannot be written', () => {
  const folder = builtProgram()
  writeFileSync(join(folder, 'cache'), 'not a folder')
  expect(versionOf(folder)).toMatch(/\d+\.\d+\.\d+/)
})
