/** Writes executables, each with its SHA-256 and its list of components. */
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { inject } from 'postject'
import {
  assetsOf,
  at,
  buildOf,
  escapeCode,
  packedPage,
  pageFiles,
  pageOptions,
  serverOptions,
} from '../bundle.mjs'
import { fontPackage, licensesText, nodePackage, packagesIn } from '../packages.mjs'
import { componentsOf } from './components.ts'
import { assertLibraries, assertRunsOnDebian12 } from './symbols.ts'
import { addonOf, run, strippedNode, TARGETS, type Target } from './targets.ts'

const MOST_BYTES = 120_000_000
/** Node searches for the blob by this name, and only if the fuse is set. From Node's documentation. */
const BLOB = 'NODE_SEA_BLOB'
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Bundles the program and writes its assets, which are the same for each target. Returns the packages in it. */
async function writeParts(parts: string, version: string, plugins: Plugin[]) {
  rmSync(parts, { recursive: true, force: true })
  mkdirSync(parts, { recursive: true })
  const page = await build({
    ...pageOptions,
    define: { ...pageOptions.define, COMMAND_NAME: JSON.stringify('windfall') },
  })
  // An executable requires only what is built into Node, so the JavaScript of better-sqlite3 is bundled, too.
  const options = { ...serverOptions(buildOf(version)), outdir: parts, external: [], plugins }
  const { metafile } = await build({ ...options, sourcemap: false, metafile: true })
  escapeCode(parts)
  const packages = [...packagesIn([page.metafile, metafile]), nodePackage(), fontPackage()]
  const assets = await assetsOf(packedPage(await pageFiles(page, build, version)))
  for (const [name, text] of Object.entries(assets)) writeFileSync(join(parts, name), text)
  writeFileSync(join(parts, 'licenses.txt.br'), brotliCompressSync(licensesText(packages)))
  return { packages, assets: [...Object.keys(assets), 'licenses.txt.br', 'worker.cjs'] }
}

/** Node's configuration of a single executable application. */
const configOf = (name: string, assets: readonly string[], useCodeCache: boolean) => ({
  // Relative, because stack traces show it.
  main: 'windfall.cjs',
  output: `${name}.blob`,
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  useCodeCache,
  // A command line or NODE_OPTIONS must not change how the program runs, nor SIGUSR1 open the inspector.
  execArgv: ['--disable-sigusr1', '--max-semi-space-size=2'],
  execArgvExtension: 'none',
  assets: {
    ...Object.fromEntries(assets.map((asset) => [asset, asset])),
    'better_sqlite3.node': addonOf(name),
    'better_sqlite3.sha256': `${name}.addon.sha256`,
  },
})

/** @throws Error if there is no such target */
function targetNamed(name: string): Target {
  const target = TARGETS[name]
  if (target) return target
  throw new Error(`unknown target ${name}; the targets are ${Object.keys(TARGETS).join(', ')}`)
}

type Content = { folder: string; parts: string; version: string; assets: readonly string[] }

/** Writes the executable of a target and returns its path. */
async function writeExecutable(name: string, { folder, parts, version, assets }: Content): Promise<string> {
  const target = targetNamed(name)
  const config = configOf(name, assets, target.useCodeCache)
  writeFileSync(join(parts, `${name}.json`), JSON.stringify(config))
  writeFileSync(join(parts, `${name}.addon.sha256`), sha256Of(addonOf(name)))
  run(process.execPath, ['--experimental-sea-config', `${name}.json`], parts)
  const file = join(folder, `windfall-${version}-${name}`)
  rmSync(file, { force: true })
  copyFileSync(strippedNode(name, target), file)
  await inject(file, BLOB, readFileSync(join(parts, config.output)), { sentinelFuse: FUSE })
  chmodSync(file, 0o755)
  return file
}

/** @throws Error if the executable is too large, or would not start on Debian 12 or Ubuntu 24.04. */
function check(file: string, name: string): string {
  const { size } = statSync(file)
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes; at most ${MOST_BYTES} are permitted`)
  const symbols = assertRunsOnDebian12([file, addonOf(name)])
  for (const one of [file, addonOf(name)]) assertLibraries(one)
  const needs = Object.entries(symbols).map(([kind, highest]) => `${kind} ${highest}`)
  return `${(size / 1_000_000).toFixed(1)} MB, needs ${needs.join(', ')}`
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** postject warns of Node's note sections, which do not matter. */
const IGNORED = /^warning: Can't find string offset for section name '\.note/

function ignoreNoteSections(): void {
  const { warn } = console
  console.warn = (text: string) => {
    if (!IGNORED.test(text)) warn(text)
  }
}

/**
 * Writes the executables for the targets in `names` to `folder`, an absolute path, and returns their paths. `plugins` are
 * for the code of the server.
 *
 * @throws Error if a target or a program that the build needs is missing, or if an executable would not run everywhere
 */
export async function writeExecutables(
  folder: string,
  names: readonly string[],
  plugins: Plugin[] = [],
): Promise<string[]> {
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  // A missing program is reported before anything is built.
  for (const name of names) strippedNode(name, targetNamed(name))
  ignoreNoteSections()
  const parts = join(folder, 'parts')
  const { packages, assets } = await writeParts(parts, version, plugins)
  const files: string[] = []
  for (const name of names) {
    const file = await writeExecutable(name, { folder, parts, version, assets })
    const sha256 = sha256Of(file)
    writeFileSync(`${file}.sha256`, `${sha256}  windfall-${version}-${name}\n`)
    writeFileSync(`${file}.cdx.json`, componentsOf({ version, sha256, packages, build: buildOf(version) }))
    say(`${file}: ${check(file, name)}`)
    files.push(file)
  }
  rmSync(parts, { recursive: true, force: true })
  return files
}
