/**
 * Builds the JavaScript SDK into sdk/js/dist: one minified file for each kind of runtime, each with its types, and the
 * backend kit `windfall-sdk/server` as a module and as CommonJS.
 * `npm run build:sdk`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { at } from '../bundle.mjs'

const SOURCES = 'sdk/js/src'
const DIST = 'sdk/js/dist'
/** Packages of React Native that the SDK uses where they are installed. */
const FOUND_AT_RUN_TIME = [
  'react-native',
  '@react-native-async-storage/async-storage',
  '@react-native-community/netinfo',
  'react-native-iap',
  'expo-application',
  'expo-device',
  'expo-iap',
]

/** Names that nothing outside sees and that are not stored. */
const INTERNAL =
  /^(after|answer|bytes|cache|calls|cancelTimer|done|env|hasProofs|inFlight|isAgain|isMemory|libraries|lock|retryAfter|run|sending|soft|stalls|tail|unsaved|watch|working)$/

const FILES = [
  { entry: 'entry_native.ts', file: 'native.js', format: 'cjs', target: 'es2020', types: 'native.d.ts' },
  { entry: 'entry_web.ts', file: 'index.mjs', format: 'esm', target: 'es2020', types: 'index.d.mts' },
  { entry: 'entry_web.ts', file: 'index.js', format: 'cjs', target: 'es2020', types: 'index.d.ts' },
] as const

/** The declarations of a project, by the names of their files. @throws Error with what tsc finds. */
function declarations(project: string, sources: string): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-sdk-'))
  try {
    const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly']
    const options = [...emit, '--rootDir', at(sources), '--outDir', folder]
    const { status, stdout } = spawnSync(at('node_modules/.bin/tsc'), ['-p', at(project), ...options])
    if (status !== 0) throw new Error(`tsc found faults:\n${stdout}`)
    const names = readdirSync(folder).filter((name) => name.endsWith('.d.ts'))
    return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The declarations of the entry and of the types that it exports, as one file without imports. */
function clientTypes(): string {
  const files = declarations('sdk/js', SOURCES)
  const entry = files.get('entry_web.d.ts') ?? ''
  const own = entry.replace(/^(import|export) (type )?\{.*\n/gm, '').replace(/^\/\*\*.*\*\/\n/, '')
  return `${files.get('types.d.ts')}${own}`
}

/** Writes the declarations of the backend kit, once for modules and once for CommonJS. */
function writeServerTypes(): void {
  mkdirSync(at(`${DIST}/server`), { recursive: true })
  for (const [name, text] of declarations('sdk/js/tsconfig.server.json', `${SOURCES}/server`)) {
    const base = name.slice(0, -'.d.ts'.length)
    for (const [types, code] of [
      ['d.ts', 'js'],
      ['d.mts', 'mjs'],
    ])
      writeFileSync(
        at(`${DIST}/server/${base}.${types}`),
        text.replace(/(from '\.\/\w+)\.ts'/g, `$1.${code}'`),
      )
  }
}

rmSync(at(DIST), { recursive: true, force: true })
mkdirSync(at(DIST), { recursive: true })
const types = clientTypes()
for (const { entry, file, format, target, types: name } of FILES) {
  await build({
    entryPoints: [at(`${SOURCES}/${entry}`)],
    bundle: true,
    minify: true,
    outfile: at(`${DIST}/${file}`),
    format,
    platform: 'neutral',
    target,
    external: FOUND_AT_RUN_TIME,
    mangleProps: INTERNAL,
    legalComments: 'none',
    logLevel: 'warning',
    logOverride: { 'commonjs-variable-in-esm': 'silent' },
  })
  writeFileSync(at(`${DIST}/${name}`), types)
}

for (const [format, extension] of [
  ['cjs', 'js'],
  ['esm', 'mjs'],
] as const)
  await build({
    entryPoints: [at(`${SOURCES}/server/server.ts`)],
    bundle: true,
    outfile: at(`${DIST}/server/server.${extension}`),
    format,
    platform: 'neutral',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  })
writeServerTypes()
