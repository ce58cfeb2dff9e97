/**
 * Builds the JavaScript SDK into sdk/js/dist: one minified file for each kind of runtime, each with its types.
 * `npm run build:sdk`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  /^(cancelTimer|hasProofs|inFlight|isAgain|isMemory|retryAfter|sending|stalls|unsaved|working)$/

const FILES = [
  { entry: 'entry_native.ts', file: 'native.js', format: 'cjs', target: 'es2020', types: 'native.d.ts' },
  { entry: 'entry_web.ts', file: 'index.mjs', format: 'esm', target: 'es2018', types: 'index.d.mts' },
  { entry: 'entry_web.ts', file: 'index.js', format: 'cjs', target: 'es2018', types: 'index.d.ts' },
] as const

/** The declarations of the entry and of the types that it exports, as one file without imports. */
function declarations(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windfall-sdk-'))
  try {
    const options = [
      '--noEmit',
      'false',
      '--declaration',
      '--emitDeclarationOnly',
      '--rootDir',
      at(SOURCES),
      '--outDir',
      folder,
    ]
    const { status, stdout } = spawnSync(at('node_modules/.bin/tsc'), ['-p', at('sdk/js'), ...options])
    if (status !== 0) throw new Error(`tsc found faults:\n${stdout}`)
    const types = readFileSync(join(folder, 'types.d.ts'), 'utf8')
    const entry = readFileSync(join(folder, 'entry_web.d.ts'), 'utf8')
    return types + entry.replace(/^(import|export) (type )?\{.*\n/gm, '').replace(/^\/\*\*.*\*\/\n/, '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

rmSync(at(DIST), { recursive: true, force: true })
mkdirSync(at(DIST), { recursive: true })
const types = declarations()
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
