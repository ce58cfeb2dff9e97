/** Compiles code that imports `windfall-sdk/server`, as a project of a user would. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../folders.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SERVER = join(ROOT, 'sdk/js/src/server/server.ts')

/** The libraries of a runtime. */
type Runtime = Readonly<{ lib: readonly string[]; types: readonly string[] }>
/** Node’s globals, and those of edge runtimes, whose names and shapes are the browser’s. */
export const RUNTIMES: Readonly<Record<'node' | 'edge', Runtime>> = {
  node: { lib: ['es2022'], types: ['node'] },
  edge: { lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
}

const settingsOf = ({ lib, types }: Runtime) => ({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    skipLibCheck: false,
    lib,
    types,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: { 'windfall-sdk/server': [SERVER] },
  },
})

/** What tsc says about files, by their names; without the folder. */
export function faultsIn(
  files: Readonly<Record<string, string>>,
  runtime: Runtime = RUNTIMES.node,
): string[] {
  const { path, remove } = temporaryFolder()
  const all = { ...files, 'tsconfig.json': JSON.stringify(settingsOf(runtime)) }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', path], {
    cwd: path,
    encoding: 'utf8',
  })
  remove()
  return stdout.split('\n').filter((line) => line !== '')
}
