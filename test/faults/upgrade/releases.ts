/** Releases for tests of `windfall upgrade`: this version, and a next one, which has another version of the database. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { versionOf } from '../../../src/store/schema/schema.ts'
import { at, buildOf, firstFile, serverOptions, sqlFiles } from '../../../tools/bundle.mjs'
import { temporaryFolder } from '../../folders.ts'
import { writeLauncher } from './launcher.ts'

/** The version of the next release. */
export const NEXT = '9.0.0'
const files = sqlFiles()
const current = versionOf(files['schema.sql'] ?? '')
/** The version of the database of the next release. */
export const NEXT_DATABASE = current + 1

const TABLE = 'create table next_notes (id integer primary key) strict;'

/** Adds a step to the list of migrations. */
const oneMoreStep: Plugin = {
  name: 'one more step',
  setup: ({ onLoad }) =>
    onLoad({ filter: /store\/schema\/schema\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        /steps: \[(.*?)\]/,
        `steps: [$1, sqlStep(${NEXT_DATABASE})]`,
      ),
      loader: 'ts',
    })),
}

/** When root runs the tests, the server runs as another user, as the installed service does. */
export const SERVER_UID = process.getuid?.() === 0 ? 65_534 : undefined

const ASSETS = ['page.json', 'passwords.txt.br', 'licenses.txt.br']

/** A folder that every user can read. */
export function openFolder(): string {
  const { path } = temporaryFolder()
  chmodSync(path, 0o755)
  return path
}

/** Bundles the next release into a folder. `changes`: whether it changes the schema, and by which SQL. */
export async function bundleNext(changes: { step: string } | null): Promise<string> {
  const folder = openFolder()
  symlinkSync(at('node_modules'), join(folder, 'node_modules'))
  await build({
    ...serverOptions(buildOf(NEXT)),
    outdir: folder,
    sourcemap: false,
    plugins: changes === null ? [] : [oneMoreStep],
  })
  for (const name of ASSETS) copyFileSync(at(`dist/${name}`), join(folder, name))
  writeFileSync(join(folder, 'windfall.mjs'), firstFile)
  writeSql(folder, changes)
  makeCache(folder)
  return folder
}

function writeSql(folder: string, changes: { step: string } | null): void {
  const sql = { ...files }
  if (changes !== null) {
    const schema = (sql['schema.sql'] ?? '').replace(/user_version = \d+/, `user_version = ${NEXT_DATABASE}`)
    sql['schema.sql'] = `${schema}\n${TABLE}`
    sql[`src/store/schema/released/step_${NEXT_DATABASE}.sql`] = changes.step
  }
  writeFileSync(join(folder, 'sql.json'), JSON.stringify(sql))
}

/** The same release with another migration. */
export function withStep(bundle: string, step: string): string {
  const folder = openFolder()
  cpSync(bundle, folder, { recursive: true, verbatimSymlinks: true })
  writeSql(folder, { step })
  makeCache(folder)
  return folder
}

/**
 * Writes an executable that runs a bundle. `before` are lines of its shell script that come first.
 *
 * @returns its path; its SHA-256 is in a file beside it.
 */
export function writeExecutable(file: string, bundle: string, before = ''): string {
  const script = join(openFolder(), 'run.sh')
  const node = `${process.execPath} --no-warnings`
  writeFileSync(script, `#!/bin/sh\n${before}\nexec ${node} ${join(bundle, 'windfall.mjs')} "$@"\n`, {
    mode: 0o755,
  })
  writeLauncher(file, script)
  writeChecksum(file)
  return file
}

/** Writes the SHA-256 of `file` to a file beside it, as the build does. */
export function writeChecksum(file: string): void {
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
  writeFileSync(`${file}.sha256`, `${sha256}  ${basename(file)}\n`)
}

/** A copy of this version, as `node build.mjs` wrote it. */
export function bundleThis(): string {
  const folder = openFolder()
  for (const name of ['windfall.mjs', 'windfall.cjs', 'worker.cjs', 'sql.json', ...ASSETS])
    copyFileSync(at(`dist/${name}`), join(folder, name))
  symlinkSync(at('node_modules'), join(folder, 'node_modules'))
  makeCache(folder)
  return folder
}

/** Makes the folders of compiled code for the user of the server, because compiling takes most of a short start. */
function makeCache(folder: string): void {
  for (const name of ['cache', 'cache/serve', 'cache/commands']) {
    mkdirSync(join(folder, name), { recursive: true })
    if (SERVER_UID !== undefined) chownSync(join(folder, name), SERVER_UID, SERVER_UID)
  }
}

/** The SQL of a migration that succeeds. */
export const GOOD_STEP = TABLE
