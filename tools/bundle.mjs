/**
 * The esbuild options for the server and the dashboard's page: for build.mjs, which writes dist/windfall.mjs, and for
 * `npm run dev`. Plain JavaScript, because build.mjs runs on any Node.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const root = new URL('..', import.meta.url)
/** The absolute path of a file of this repository. */
export const at = (path) => fileURLToPath(new URL(path, root))

const RELEASED = 'src/store/schema/released'

/** The text of schema.sql and of the SQL of released versions, by path. */
export const sqlFiles = () =>
  Object.fromEntries(
    ['schema.sql', ...readdirSync(at(RELEASED)).map((name) => `${RELEASED}/${name}`)].map((path) => [
      path,
      readFileSync(at(path), 'utf8'),
    ]),
  )

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}
const UI = 'src/web/ui'
const FLAGS = 'node_modules/country-flag-icons'
/** Read late, because build.mjs loads this file before it installs the packages. */
const flagsVersion = () => JSON.parse(readFileSync(at(`${FLAGS}/package.json`), 'utf8')).version
const PAGE_ENTRIES = { app: `${UI}/main.tsx`, first: `${UI}/first_script.ts` }
/** The files that a file imports late, as [name of the property, path]. */
const lateImportsOf = (file) =>
  [...readFileSync(at(file), 'utf8').matchAll(/(?:(\w+): \w+\(\s*\(\) =>\s*)?\bimport\('(\.[^']+)'\)/g)].map(
    ([, name, path]) => [name, join(dirname(file), path)],
  )

/** What is shown at `/`: Today, or what a guest sees there. */
const VIEWS_OF_FIRST_PAGE = ['today', 'overview', 'shared_metrics']

/** The addresses of the pages. */
export const pageAddresses = () => Object.keys(pageSources())

/**
 * The pages by address, each with the files of code that it loads at once, so that the browser need not find them one by
 * one. `/` is the page of Today, which is also cached for offline use, and `/page` that of unknown paths.
 * src/web/front.ts finds the page of a view.
 */
function pageSources() {
  const views = lateImportsOf(`${UI}/views.ts`)
  const sections = lateImportsOf(`${UI}/settings/section_components.ts`)
  const sourceOf = (view) => new Map(views).get(view)
  return {
    '/': [sourceOf('today')],
    '/page': [],
    ...Object.fromEntries(
      views
        .filter(([view]) => !VIEWS_OF_FIRST_PAGE.includes(view))
        .map(([view, source]) => [`/page/${view}`, [source]]),
    ),
    // The settings begin with their first section.
    ...Object.fromEntries(
      [['', sections[0][1]], ...sections.map(([name, source]) => [`/${name}`, source])].map(
        ([name, source]) => [`/page/settings${name}`, [sourceOf('settings'), source]],
      ),
    ),
  }
}

/**
 * esbuild's options for code in the browser: minified, for browsers of the last three years.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
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

/** The files of the page that load when they are needed. */
const lateFiles = () =>
  readdirSync(at(UI), { recursive: true })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => lateImportsOf(`${UI}/${name}`).map(([, path]) => at(path)))

/**
 * Makes each file that loads late import the first one, whose code is there by then. esbuild divides code by which files
 * use it, and would otherwise divide the first into dozens.
 *
 * @type {import('esbuild').Plugin}
 */
const oneFirstFile = {
  name: 'one-first-file',
  setup(build) {
    let late = new Set()
    build.onStart(() => {
      late = new Set(lateFiles())
    })
    build.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!late.has(path)) return
      const contents = `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(at(PAGE_ENTRIES.app))}\n`
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/**
 * esbuild's options for the scripts and styles of the page; `pageFiles` takes the result.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
export const pageOptions = {
  ...forBrowsers,
  entryPoints: PAGE_ENTRIES,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.woff2': 'file' },
  splitting: true,
  plugins: [oneFirstFile],
  metafile: true,
  get define() {
    return {
      COMMAND_NAME: JSON.stringify('npm run -s windfall --'),
      FLAGS_VERSION: JSON.stringify(flagsVersion()),
    }
  },
}

/**
 * The files of the page by address, each with its content type and bytes. Names below /assets/ contain a hash of the
 * content.
 *
 * @param built esbuild's result for `pageOptions`
 * @param bundle esbuild's `build`
 * @param version of Windfall; the service worker's cache is named after it and the page
 */
export async function pageFiles({ outputFiles, metafile }, bundle, version) {
  const files = {}
  const add = (address, name, bytes) => {
    files[address] = { type: TYPES[extname(name)], bytes }
  }
  const addressOf = (path) => `/assets/${path.replaceAll('\\', '/').split('/').at(-1)}`
  for (const { path, contents } of outputFiles) add(addressOf(path), path, contents)
  const outputs = Object.entries(metafile.outputs)
  const madeOf = (source) => outputs.find(([, { entryPoint }]) => entryPoint === source) ?? []
  const [entry, { cssBundle = '' } = {}] = madeOf(PAGE_ENTRIES.app)
  const first = addressOf(madeOf(PAGE_ENTRIES.first)[0])
  const font = outputs.find(([path]) => path.endsWith('.woff2'))?.[0] ?? ''
  const staticImports = (path) =>
    (metafile.outputs[path]?.imports ?? []).flatMap((one) =>
      one.kind === 'import-statement' ? [one.path] : [],
    )
  /** The files that a file needs, with itself. */
  function neededBy(path, found = new Set()) {
    if (found.has(path)) return found
    found.add(path)
    for (const one of staticImports(path)) neededBy(one, found)
    return found
  }
  // All code of the entry is in the file that late files share, so that the entry's own only imports it.
  const [app = entry] = staticImports(entry)
  const preloadsOf = (sources) => {
    const paths = neededBy(app)
    for (const source of sources) neededBy(madeOf(source)[0], paths)
    paths.delete(app)
    return [...paths].map((path) => `<link rel="modulepreload" href="${addressOf(path)}">`).join('')
  }
  const html = readFileSync(at(`${UI}/index.html`), 'utf8')
    .replace('{{first_script}}', first)
    .replace('{{font}}', addressOf(font))
    .replace('{{style}}', addressOf(cssBundle))
    .replace('{{script}}', addressOf(app))
  for (const [address, sources] of Object.entries(pageSources()))
    add(address, 'index.html', Buffer.from(html.replace('{{preloads}}', preloadsOf(sources))))
  for (const name of readdirSync(at(`${UI}/static`)))
    add(`/${name}`, name, readFileSync(at(`${UI}/static/${name}`)))
  for (const name of readdirSync(at(`${FLAGS}/3x2`)).filter((file) => /^[A-Z]{2}\.svg$/.test(file)))
    add(
      `/assets/flag-${name.slice(0, 2)}-${flagsVersion()}.svg`,
      name,
      readFileSync(at(`${FLAGS}/3x2/${name}`)),
    )
  const worker = await bundle({
    ...forBrowsers,
    entryPoints: [`${UI}/service_worker.ts`],
    define: {
      SHELL: JSON.stringify(['/', ...outputFiles.map(({ path }) => addressOf(path))]),
      VERSION: JSON.stringify(
        `${version}-${createHash('sha256').update(files['/'].bytes).digest('hex').slice(0, 12)}`,
      ),
    },
  })
  add('/service_worker.js', 'service_worker.js', worker.outputFiles[0].contents)
  return files
}

/** The page as text to embed in the server: every file compressed once, with brotli at its best. */
export function packedPage(files) {
  const packed = Object.entries(files).map(([address, { type, bytes }]) => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    return [address, { type, br: brotliCompressSync(bytes, { params }).toString('base64') }]
  })
  return JSON.stringify(Object.fromEntries(packed))
}

/**
 * The text of dist/windfall.mjs, the first file that Node runs. It checks the version of Node before anything else,
 * because an old Node would fail somewhere in the middle without a useful message.
 *
 * Node keeps the compiled program in the folder `cache` beside it, which halves the time of a start, and does without
 * where the folder cannot be written. The cache has the functions that ran before it was written, and is not written
 * again; so the server has its own, which src/cli/serve.ts writes after the first start.
 */
export const firstFile = `#!/usr/bin/env node
if (Number.parseInt(process.versions.node) < 24) {
  console.error('Windfall needs Node 24; this is ' + process.version + '. Run npm start or npm run windfall, which use the right version.')
  process.exit(1)
}
// An import statement would read every export of these modules.
const { mkdirSync } = process.getBuiltinModule('node:fs')
const { createRequire, enableCompileCache } = process.getBuiltinModule('node:module')
const cache = import.meta.dirname + (process.argv[2] === 'serve' ? '/cache/serve' : '/cache/commands')
try {
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  enableCompileCache(cache)
} catch {}
createRequire(import.meta.url)('./windfall.cjs')
`

const CODE = ['windfall.cjs', 'worker.cjs']

/**
 * Replaces characters beyond ASCII in the built code of `folder`. esbuild leaves them in regular expressions, and a
 * single one makes Node keep the whole text with two bytes a character.
 */
export function escapeCode(folder) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  for (const name of CODE) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped))
  }
}

/**
 * The assets beside the bundle, except the code of worker threads. Those that end in .br are compressed.
 *
 * @param page the result of `packedPage`
 * @returns {Promise<Record<string, string | Buffer>>}
 */
export async function assetsOf(page) {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return {
    'page.json': page,
    'sql.json': JSON.stringify(sqlFiles()),
    // Passwords that were stolen most often, and words of passphrases.
    'passwords.txt.br': brotliCompressSync(
      [...new Set([...dictionary['passwords-common'], ...dictionary['diceware-common']])]
        .filter((word) => word.length >= 3)
        .join('\n'),
    ),
  }
}

/** git neither takes a repository around this folder for this one, nor locks the index beside another git. */
const GIT_SETTINGS = { GIT_CEILING_DIRECTORIES: dirname(at('.')), GIT_OPTIONAL_LOCKS: '0' }

/** What `windfall --version` says of this build: the version, the commit (null outside of git), and SQLite's version. */
export function buildOf(version) {
  const { stdout, status } = spawnSync(
    'git',
    ['describe', '--always', '--dirty', '--exclude=*', '--abbrev=12'],
    { cwd: at('.'), encoding: 'utf8', env: { ...process.env, ...GIT_SETTINGS } },
  )
  const header = readFileSync(at('node_modules/better-sqlite3/deps/sqlite3/sqlite3.h'), 'utf8')
  return {
    version,
    commit: status === 0 ? stdout.trim() : null,
    sqlite: /SQLITE_VERSION +"([^"]+)"/.exec(header)?.[1] ?? '',
  }
}

/**
 * esbuild's options for the program and for its worker threads: two files in one folder, which also has the assets.
 *
 * @param build the result of `buildOf`
 * @returns {import('esbuild').BuildOptions}
 */
export const serverOptions = (build) => ({
  absWorkingDir: at('.'),
  entryPoints: { windfall: 'src/main.ts', worker: 'src/threads.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  sourcemap: 'linked',
  // Keeps names in stack traces, which justifies the larger file.
  minifySyntax: true,
  minifyWhitespace: true,
  // Node prints the source line that threw, which must not be the whole program.
  lineLimit: 160,
  external: ['better-sqlite3'],
  define: {
    BUNDLE_FOLDER: '__dirname',
    BUNDLED_BUILD: JSON.stringify(build),
    // Used by the sources only, to find other files of the repository.
    'import.meta.url': '""',
  },
  logLevel: 'warning',
})
