/**
 * Installs what is missing and builds dist/windfall.mjs, each only when something changed. Plain JavaScript without
 * dependencies, because it is what runs first on a fresh machine, on whatever Node that has.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('.', import.meta.url)
const at = (path) => fileURLToPath(new URL(path, root))
const quiet = process.argv.includes('--quiet')
const say = (text) => quiet || process.stdout.write(`${text}\n`)

const fingerprint = (files) => {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(at(file)))
      .update('\0')
  return hash.digest('hex')
}

const isFresh = (stamp, mark) => existsSync(at(stamp)) && readFileSync(at(stamp), 'utf8') === mark

const filesBelow = (folder) =>
  readdirSync(at(folder), { recursive: true })
    .map((name) => `${folder}/${name}`.replaceAll('\\', '/'))
    .filter((name) => statSync(at(name)).isFile())
    .sort()

function install() {
  const mark = fingerprint(['package.json', 'package-lock.json'])
  if (isFresh('node_modules/.windfall', mark)) return
  say('Installing what is missing (once; about a minute) …')
  const npm = process.env.npm_execpath
  // npm_config_* of the outer npm would be taken for settings of this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)/.test(name)),
  )
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: at('.'),
    env,
    stdio: ['ignore', quiet ? 'ignore' : 'inherit', 'inherit'],
    shell: !npm && process.platform === 'win32',
  })
  if (status !== 0) {
    process.stderr.write('npm could not install the dependencies; its messages above say why.\n')
    process.exit(1)
  }
  writeFileSync(at('node_modules/.windfall'), mark)
}

// Runs before anything of ours: an old Node would fail somewhere in the middle, and not say why.
const banner = `#!/usr/bin/env node
import { createRequire as windfallRequire } from 'node:module'
if (Number.parseInt(process.versions.node) < 24) {
  console.error('Windfall needs Node 24; this is ' + process.version + '. npm start and npm run windfall bring the right one along.')
  process.exit(1)
}
const require = windfallRequire(import.meta.url)`

async function build() {
  const sources = [...filesBelow('src'), 'schema.sql', 'build.mjs', 'package.json', 'package-lock.json']
  const mark = fingerprint(sources)
  if (isFresh('dist/.built', mark)) return
  say('Building …')
  const { build: bundle } = await import('esbuild')
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  mkdirSync(at('dist'), { recursive: true })
  await bundle({
    absWorkingDir: at('.'),
    entryPoints: ['src/main.ts'],
    outfile: 'dist/windfall.mjs',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    sourcemap: 'linked',
    // Keeps names in stack traces, which is worth more than the bytes.
    minifySyntax: true,
    minifyWhitespace: true,
    // Node prints the line that threw; it should not be the whole program.
    lineLimit: 160,
    external: ['better-sqlite3'],
    define: {
      BUNDLED_SCHEMA: JSON.stringify(readFileSync(at('schema.sql'), 'utf8')),
      BUNDLED_VERSION: JSON.stringify(version),
    },
    banner: { js: banner },
    logLevel: 'warning',
  })
  writeFileSync(at('dist/.built'), mark)
}

install()
await build()
