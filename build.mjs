/**
 * Installs what is missing and builds dist/windfall.mjs, each only when something changed. Plain JavaScript without
 * dependencies, because it is what runs first on a fresh machine, on whatever Node that has.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

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

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
}
const UI = 'src/web/ui'

/** A file as the server answers it: compressed once, here, as far as brotli goes. */
const packed = (name, bytes) => ({
  type: TYPES[extname(name)],
  br: brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  }).toString('base64'),
})

/** How the browser's side is bundled: small, for browsers of the last three years. */
const forBrowsers = {
  absWorkingDir: at('.'),
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  target: ['chrome120', 'firefox121', 'safari17'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  outdir: at('dist/assets'),
  logLevel: 'warning',
}

/** The dashboard's page as one object: address → file. What is below /assets/ is named after its content. */
async function buildPage(bundle, version) {
  const entries = { app: `${UI}/main.tsx`, theme: `${UI}/theme_early.ts` }
  const { outputFiles, metafile } = await bundle({
    ...forBrowsers,
    entryPoints: entries,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    splitting: true,
    metafile: true,
  })
  const files = {}
  const addressOf = (path) => `/assets/${path.replaceAll('\\', '/').split('/').at(-1)}`
  for (const { path, contents } of outputFiles) files[addressOf(path)] = packed(path, contents)
  const outputs = Object.entries(metafile.outputs)
  const madeOf = (source) => outputs.find(([, { entryPoint }]) => entryPoint === source) ?? []
  const [app, { cssBundle = '', imports = [] } = {}] = madeOf(entries.app)
  const first = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => addressOf(path))
  const html = readFileSync(at(`${UI}/index.html`), 'utf8')
    .replace('{{theme}}', addressOf(madeOf(entries.theme)[0]))
    .replace('{{style}}', addressOf(cssBundle))
    .replace('{{script}}', addressOf(app))
    .replace('{{first}}', first.map((path) => `<link rel="modulepreload" href="${path}">`).join(''))
  files['/'] = packed('index.html', Buffer.from(html))
  for (const name of readdirSync(at(`${UI}/static`)))
    files[`/${name}`] = packed(name, readFileSync(at(`${UI}/static/${name}`)))
  const worker = await bundle({
    ...forBrowsers,
    entryPoints: [`${UI}/service_worker.ts`],
    define: {
      SHELL: JSON.stringify([
        '/',
        addressOf(app),
        addressOf(cssBundle),
        addressOf(madeOf(entries.theme)[0]),
        ...first,
      ]),
      VERSION: JSON.stringify(`${version}-${createHash('sha256').update(html).digest('hex').slice(0, 12)}`),
    },
  })
  files['/service_worker.js'] = packed('service_worker.js', worker.outputFiles[0].contents)
  return JSON.stringify(files)
}

async function build() {
  const sources = [...filesBelow('src'), 'schema.sql', 'build.mjs', 'package.json', 'package-lock.json']
  const mark = fingerprint(sources)
  if (isFresh('dist/.built', mark)) return
  say('Building …')
  const { build: bundle } = await import('esbuild')
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  mkdirSync(at('dist'), { recursive: true })
  const page = await buildPage(bundle, version)
  // For what runs from the sources; the program has it inside.
  writeFileSync(at('dist/page.json'), page)
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
      // Shorter ones cannot be chosen anyway; the whole list would be a tenth of the program.
      BUNDLED_PASSWORDS: JSON.stringify(
        dictionary['passwords-common'].filter((word) => word.length >= 12).join('\n'),
      ),
      BUNDLED_VERSION: JSON.stringify(version),
      BUNDLED_PAGE: JSON.stringify(page),
    },
    banner: { js: banner },
    logLevel: 'warning',
  })
  writeFileSync(at('dist/.built'), mark)
}

install()
await build()
