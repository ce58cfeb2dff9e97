/** The rules for code and files. They are only ever tightened. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openTestApp } from './helpers.ts'
import { ROOT, read, SDK, SOURCES, TESTS, TOOLS } from './tidy/files.ts'

/** Each line may import the lines above it and itself. Folders on one line do not import one another. */
const ORDER = [
  ['errors', 'clock', 'ids', 'days', 'money', 'version', 'turns', 'hooks', 'limiter'],
  ['program'],
  ['config'],
  ['log'],
  ['stoppages'],
  ['http'],
  ['store'],
  ['events'],
  ['apple'],
  ['apps'],
  ['access'],
  ['rates'],
  ['ledger'],
  ['attribution'],
  ['metrics'],
  ['annotations'],
  ['exports'],
  ['health'],
  ['systemd'],
  ['outgoing'],
  ['offsite'],
  ['forwarding', 'alerts'],
  ['jobs'],
  ['doctor'],
  ['api'],
  ['web'],
  ['app_options'],
  ['app'],
  ['control'],
  ['demo'],
  ['cli'],
  ['threads', 'children'],
  ['main'],
]
const placeOf = (path: string): string =>
  path
    .replace(/^src\//, '')
    .split('/')[0]
    ?.replace(/\.tsx?$/, '') ?? ''
const rankOf = (place: string): number => ORDER.findIndex((line) => line.includes(place))

test('every folder in src has a rank and imports only lower ranks', () => {
  const wrong: string[] = []
  for (const file of SOURCES) {
    const place = placeOf(file)
    if (rankOf(place) < 0) wrong.push(`${file}: ${place} has no rank`)
    for (const target of importsOf(file)) {
      const isBefore = rankOf(placeOf(target)) < rankOf(place)
      if (placeOf(target) !== place && !isBefore) wrong.push(`${file} imports ${target}`)
    }
  }
  expect(wrong).toEqual([])
})

const importsOf = (file: string): string[] =>
  [...read(file).matchAll(/(?:from |import |import\()'(\.[^']+)'/g)].flatMap(([, from]) =>
    from === undefined ? [] : [new URL(from, new URL(file, 'file:///')).pathname.slice(1)],
  )

test('no import cycles, not even of types', () => {
  const imports = new Map([...SOURCES, ...SDK].map((file) => [file, importsOf(file)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (path.includes(file) || done.has(file)) return
    for (const next of imports.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of [...SOURCES, ...SDK]) visit(file, [])
  expect(cycles).toEqual([])
})

test('a table is written only by the folder that its section of schema.sql names', () => {
  const owners = new Map<string, string>()
  for (const section of read('schema.sql')
    .split(/^-- (?=\w+\/ -)/m)
    .slice(1)) {
    const owner = /^\w+/.exec(section)?.[0] ?? ''
    for (const [, table] of section.matchAll(/create table (\w+)/g)) owners.set(table ?? '', owner)
  }
  expect(owners.size).toBeGreaterThan(15)
  const wrong: string[] = []
  for (const file of SOURCES) {
    for (const [, table] of read(file).matchAll(/(?:insert(?: or \w+)? into|delete from|update)\s+(\w+)/g)) {
      const owner = owners.get(table ?? '')
      if (owner !== undefined && owner !== placeOf(file))
        wrong.push(`${file} writes ${table}, which is ${owner}’s`)
    }
  }
  expect(wrong).toEqual([])
})

test('imports nothing by name that only new Node versions have: an old Node must reach its error message', () => {
  const isNew = /import \{[^}]*\b(argon2|styleText|DatabaseSync|registerHooks)\b[^}]*\} from 'node:/
  expect(SOURCES.filter((file) => isNew.test(read(file)))).toEqual([])
})

test('only src/apple creates Verified values', () => {
  expect(
    SOURCES.filter((file) => !file.startsWith('src/apple/') && read(file).includes('restated(')),
  ).toEqual([])
})

test('no literal is spread into a literal', () => {
  const isSpread = (text: string): boolean =>
    /\.\.\.\{/.test(text) ||
    [...text.matchAll(/\.\.\.(\[[^[\]]*\])(.)/gs)].some(([, , next]) => !/[.:]/.test(next ?? ''))
  expect([...SOURCES, ...SDK, ...TESTS].filter((file) => isSpread(read(file)))).toEqual([])
})

test('a route is made by defineRoute, a hook by openHook, and nothing reads private fields', () => {
  const wrong = SOURCES.filter((file) => {
    const text = read(file)
    const byHand = file !== 'src/http/route.ts' && /security: \[[^\]]*\],\n\s+answers/.test(text)
    const ownHook = file !== 'src/hooks.ts' && /\.push\(listener\)/.test(text)
    return byHand || ownHook || /Symbol\.for\(|\._[a-z]\w*[^\w(]/i.test(text)
  })
  expect(wrong).toEqual([])
})

test('no barrels, no default exports, no utility files', () => {
  const wrong = [...SOURCES, ...SDK].filter(
    (file) =>
      /\/(index|utils?|helpers?|manager|service)\.ts$/.test(file) || /^export (\*|default)/m.test(read(file)),
  )
  expect(wrong).toEqual([])
})

test('every export is used in another file', () => {
  const all = [...SOURCES, ...SDK, ...TESTS, ...TOOLS]
  const words = new Map(all.map((file) => [file, new Set(read(file).match(/\w+/g))]))
  const alone = [...SOURCES, ...SDK, ...TOOLS].flatMap((file) =>
    [...read(file).matchAll(/^export (?:async )?(?:function\*?|const|let|type|class) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => ![...words].some(([other, used]) => other !== file && used.has(name)))
      .map((name) => `${file} ${name}`),
  )
  expect(alone).toEqual([])
})

test('every file starts with a doc comment', () => {
  expect([...SOURCES, ...SDK, ...TOOLS].filter((file) => !read(file).startsWith('/**'))).toEqual([])
})

/** The clocks of the server, the browser and the SDK, the script that runs on a phone, and the probe that runs in a page. */
const KNOWING_THE_TIME = new Set([
  'src/clock.ts',
  'src/web/ui/now.ts',
  'src/alerts/widgets/scriptable.ts',
  'sdk/js/src/environment.ts',
  'sdk/js/src/server/now.ts',
  'test/bench/pages/page_loads.ts',
])
const BENCHMARKS = TESTS.filter((file) => file.startsWith('test/bench/'))

test('only clocks read the time, and only the log and the commands print', () => {
  const withSteps = [...SOURCES, ...SDK, ...BENCHMARKS, ...TOOLS].filter(
    (file) =>
      !KNOWING_THE_TIME.has(file) && /Date\.now\b|new Date\(\)|performance\.now\b|hrtime/.test(read(file)),
  )
  expect(withSteps).toEqual([])
  expect(SOURCES.filter((file) => /\bconsole\.\w+\(/.test(read(file)))).toEqual([])
})

test('no unfinished work, no skipped tests, no sleeping in tests', () => {
  const todo = new RegExp(['TO', 'DO|FIX', 'ME|X', 'XX'].join(''))
  expect([...SOURCES, ...SDK, ...TESTS].filter((file) => todo.test(read(file)))).toEqual([])
  const lazy = /\.(only|todo)\(|setTimeout\([^,]+, *[0-9_]{3,}\)|waitForTimeout\(|vi\.mock\(/
  expect(TESTS.filter((file) => file !== 'test/tidy.test.ts' && lazy.test(read(file)))).toEqual([])
})

test('a path is made of an address by fileURLToPath: the path of an address has no spaces', () => {
  const wrong = [...SOURCES, ...SDK, ...TESTS, ...TOOLS].filter((file) =>
    /(import\.meta\.url\)|ROOT)\.pathname/.test(read(file)),
  )
  expect(wrong).toEqual([])
})

test('every route is in the OpenAPI document', async () => {
  const app = await openTestApp()
  const document = (await (await app.request('/api/openapi.json')).json()) as {
    paths: Record<string, object>
  }
  const documented = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const routes = app.windfall.http
    .routes()
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
  expect(documented.sort()).toEqual(routes.sort())
})

test('dependencies have exact versions, and docs/decisions/dependencies.md gives the reason for each', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'))
  const all = Object.entries<string>({ ...dependencies, ...devDependencies })
  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  const reasons = read('docs/decisions/dependencies.md')
  expect(all.map(([name]) => name).filter((name) => !reasons.includes(`\`${name}\``))).toEqual([])
})

test('every error code is in the table of docs/api.md', () => {
  const table = read('docs/api.md').match(/<!-- errors -->[\s\S]*<!-- \/errors -->/)?.[0] ?? ''
  const codes = new Set<string>()
  for (const file of SOURCES.filter(
    (name) =>
      !/^src\/(cli|control|offsite|program|systemd|apps|store\/(disk\/lock|backup|schema))\b/.test(name),
  )) {
    for (const [, code] of read(file).matchAll(/new Refusal\(\s*\d{3},\s*'(\w+)'/g)) codes.add(code ?? '')
  }
  expect(codes.size).toBeGreaterThan(15)
  expect([...codes].filter((code) => !table.includes(`\`${code}\``))).toEqual([])
})

test('the top level contains only the expected files', () => {
  const allowed = new Set([
    'package.json',
    'package-lock.json',
    // Swift's package manager looks for it at the top of a repository only.
    'Package.swift',
    '.build',
    '.swiftpm',
    'tsconfig.json',
    'biome.json',
    'build.mjs',
    'schema.sql',
    'config.example.toml',
    'README.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'LICENSE',
    '.editorconfig',
    '.nvmrc',
    'docs',
    'src',
    'test',
    'sdk',
    'tools',
    '.ci',
    '.git',
    '.gitignore',
    'node_modules',
    'dist',
    'data',
    'config.toml',
  ])
  expect(readdirSync(ROOT).filter((name) => !allowed.has(name))).toEqual([])
})
