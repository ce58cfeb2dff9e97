/** The package as npm, Node, bundlers and TypeScript see it. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { publint } from 'publint'
import { beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { isLong } from '../random.ts'
import { built, PACKAGE } from './built.ts'

const bin = (name: string) => fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}:\n${stdout}${stderr}`)
  return stdout
}

let tarball = ''
let files: string[] = []
const { path: folder } = temporaryFolder()
beforeAll(() => {
  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], PACKAGE),
  )
  tarball = join(folder, packed.filename)
  files = packed.files.map(({ path }: { path: string }) => path)
})

test('npm packs the built files, the licence and the README, and nothing else', () => {
  expect(files.filter((path) => !path.startsWith('dist/server')).sort()).toEqual([
    'LICENSE',
    'README.md',
    'dist/index.d.mts',
    'dist/index.d.ts',
    'dist/index.js',
    'dist/index.mjs',
    'dist/native.d.ts',
    'dist/native.js',
    'package.json',
    'server.md',
    'server/package.json',
  ])
  expect(files).toContain('dist/server/server.d.mts')
  expect(files).toContain('dist/server/server.d.ts')
})

test('the package has no dependencies and the licence of the repository', () => {
  const { dependencies, peerDependencies, license, sideEffects } = JSON.parse(
    readFileSync(`${PACKAGE}package.json`, 'utf8'),
  )
  expect([dependencies, peerDependencies, license, sideEffects]).toEqual([undefined, undefined, 'MIT', false])
  expect(readFileSync(`${PACKAGE}LICENSE`, 'utf8')).toBe(readFileSync(`${PACKAGE}../../LICENSE`, 'utf8'))
})

/** What React Native and browsers load, compressed. It may shrink only. */
const NATIVE_BYTES_MOST = 6870
const WEB_BYTES_MOST = 6780

test(`all that React Native loads is at most ${NATIVE_BYTES_MOST} bytes of gzip`, () => {
  expect(gzipSync(built('native.js'), { level: 9 }).length).toBeLessThanOrEqual(NATIVE_BYTES_MOST)
})

test(`all that browsers load is at most ${WEB_BYTES_MOST} bytes of gzip`, () => {
  expect(gzipSync(built('index.mjs'), { level: 9 }).length).toBeLessThanOrEqual(WEB_BYTES_MOST)
})

test('publint and are-the-types-wrong find nothing', async () => {
  const { messages } = await publint({ pkgDir: PACKAGE, strict: true })
  expect(messages.filter(({ type }) => type !== 'suggestion')).toEqual([])
  expect(run(bin('attw'), [tarball, '--no-color', '--format', 'ascii'], folder)).toContain(
    'No problems found',
  )
})

const NAMES = ['attributePurchase', 'configure', 'debugState', 'flush', 'identify', 'reset', 'setAttributes']

test('the backend kit loads as a module and as CommonJS', async () => {
  const own = createRequire(`${PACKAGE}package.json`)
  const exported = ['WebhookError', 'WindfallError', 'createClient', 'verifyWebhook']
  expect(own.resolve('windfall-sdk/server')).toBe(`${PACKAGE}dist/server/server.js`)
  expect(Object.keys(own('windfall-sdk/server')).sort()).toEqual(exported)
  expect(Object.keys(await import(`${PACKAGE}dist/server/server.mjs`)).sort()).toEqual(exported)
})

test('each condition of exports leads to the same seven functions', async () => {
  const own = createRequire(`${PACKAGE}package.json`)
  expect(Object.keys(own('windfall-sdk')).sort()).toEqual(NAMES)
  expect(own.resolve('windfall-sdk')).toBe(`${PACKAGE}dist/index.js`)
  expect(Object.keys(await import(`${PACKAGE}dist/index.mjs`)).sort()).toEqual(NAMES)
  expect(Object.keys(own(`${PACKAGE}dist/native.js`)).sort()).toEqual(NAMES)
})

test('CommonJS gets CommonJS under each condition, also in Jest with jsdom, which asks for browser and require', () => {
  const resolved = (...conditions: string[]) =>
    run(
      process.execPath,
      [...conditions.map((one) => `--conditions=${one}`), '-p', 'require.resolve("windfall-sdk")'],
      PACKAGE,
    ).trim()
  expect(resolved()).toBe(`${PACKAGE}dist/index.js`)
  expect(resolved('browser')).toBe(`${PACKAGE}dist/index.js`)
  expect(resolved('react-native')).toBe(`${PACKAGE}dist/native.js`)
})

test('bundlers find the file for browsers and for React Native; that for browsers has no require', async () => {
  const bundled = async (conditions: string[]) => {
    const { metafile } = await build({
      stdin: { contents: "import { identify } from 'windfall-sdk'; identify('ann')", resolveDir: PACKAGE },
      bundle: true,
      write: false,
      metafile: true,
      conditions,
      platform: 'neutral',
      external: [
        'react-native',
        '@react-native-*',
        'expo-*',
        'react-native-iap',
        '@react-native-community/*',
        '@react-native-async-storage/*',
      ],
      logLevel: 'silent',
    })
    return Object.keys(metafile.inputs).map((path) => path.split('/').pop())
  }
  expect(await bundled(['browser', 'import'])).toContain('index.mjs')
  expect(await bundled(['react-native'])).toContain('native.js')
  expect(built('index.mjs')).not.toMatch(/\brequire\b/)
})

test('React Native’s file loads each package by a literal name inside a try, as Metro needs', () => {
  const text = built('native.js')
  const block = /try\{([^{}]*\{[^{}]*require[^{}]*\})\}catch/.exec(text)?.[1] ?? ''
  const all = [...text.matchAll(/require\("([^"]+)"\)/g)].map(([whole]) => whole)
  expect(all.length).toBeGreaterThan(5)
  expect(all.filter((one) => !block.includes(one))).toEqual([])
})

test('the examples of the README compile with tsc --strict', () => {
  const { path } = temporaryFolder()
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(PACKAGE, join(path, 'node_modules/windfall-sdk'))
  const readme = readFileSync(`${PACKAGE}README.md`, 'utf8')
  const examples = [...readme.matchAll(/```(tsx?)\n([\s\S]*?)```/g)]
  expect(examples.length).toBeGreaterThan(4)
  for (const [at, [, ending, text]] of examples.entries())
    writeFileSync(join(path, `example_${at}.${ending}`), `${text}\nexport {}\n`)
  copyFileSync(fileURLToPath(new URL('example_packages.d.ts', import.meta.url)), join(path, 'packages.d.ts'))
  const options = {
    strict: true,
    noEmit: true,
    module: 'preserve',
    moduleResolution: 'bundler',
    target: 'es2020',
    lib: ['es2020', 'dom'],
    types: [],
    jsx: 'preserve',
  }
  for (const customConditions of [[], ['react-native']]) {
    writeFileSync(
      join(path, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, customConditions }, include: ['*'] }),
    )
    run(bin('tsc'), ['-p', '.'], path)
  }
})

test.runIf(isLong)('Hermes compiles the file for React Native', () => {
  const { path } = temporaryFolder()
  run(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefix',
      path,
      'hermes-compiler@260318099.0.6',
    ],
    path,
  )
  const hermes = join(path, 'node_modules/hermes-compiler/hermesc/linux64-bin/hermesc')
  run('chmod', ['+x', hermes], path)
  run(hermes, ['-O', '-emit-binary', '-out', join(path, 'native.hbc'), `${PACKAGE}dist/native.js`], path)
})
