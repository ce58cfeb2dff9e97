/** The SQL that a page has for the database of a backend runs in PostgreSQL. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf } from '../../processes.ts'
import { blocksOf } from '../snippets.ts'

/** The folder of PostgreSQL's programs. Debian puts those of a server outside of PATH. */
const DEBIAN = '/usr/lib/postgresql'
const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
const folders = [...(process.env.PATH ?? '').split(':'), ...versions.map((one) => join(DEBIAN, one, 'bin'))]
const postgres = folders.find((one) => existsSync(join(one, 'initdb'))) ?? ''
const hasPostgres = postgres !== ''
if (!hasPostgres) process.stderr.write('\n*** initdb of PostgreSQL is missing: its SQL is SKIPPED.\n\n')

/** The user that runs PostgreSQL, which refuses root. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined

/** Runs queries one after another in a new PostgreSQL. Returns what it prints. */
function runInPostgres(sql: readonly string[]): string {
  const folder = folderOf()
  chmodSync(folder, 0o700)
  if (uid !== undefined) chownSync(folder, uid, uid)
  const options = { cwd: folder, encoding: 'utf8', ...(uid !== undefined && { uid, gid: uid }) } as const
  const data = join(folder, 'data')
  execFileSync(join(postgres, 'initdb'), ['-D', data, '--no-sync', '-E', 'UTF8', '--locale', 'C'], {
    ...options,
    stdio: 'ignore',
  })
  // In this mode an empty line ends a query.
  const input = sql.map((one) => `${one.trim().replaceAll(/\n\s*\n/g, '\n')}\n\n`).join('')
  const { stdout, stderr } = spawnSync(
    join(postgres, 'postgres'),
    ['--single', '-j', '-D', data, 'postgres'],
    { ...options, input },
  )
  expect(stderr.split('\n').filter((line) => /ERROR|FATAL|WARNING/.test(line))).toEqual([])
  return stdout
}

/** The body that docs/webhooks.md shows. */
const EXAMPLE = JSON.parse(
  blocksOf('docs/webhooks.md').find(({ language }) => language === 'json')?.text ?? '',
)

/** A query that hands a webhook to the printed function: the state of a subscription `now`, ms after the example's. */
function receiving(webhook_id: string, has_access: boolean, now: number): string {
  const { data, ...event } = EXAMPLE
  const as_of = data.subscription_now.as_of + now
  const subscription_now = { ...data.subscription_now, has_access, access_until: 4_102_444_800_000, as_of }
  const body = JSON.stringify({ ...event, data: { ...data, subscription_now } })
  return `select receive_webhook('${webhook_id}', '${body.replaceAll("'", "''")}'::jsonb);`
}

test.skipIf(!hasPostgres)('in PostgreSQL, the newest state decides about access (skipped without it)', () => {
  const roles = ['anon', 'authenticated', 'service_role'].map((role) => `create role ${role};`)
  const blocks = blocksOf('docs/webhooks.md').filter(({ language }) => language === 'sql')
  const shown = blocks.map(({ text }) => text)
  const [question = ''] = shown.filter((text) => text.includes('$1'))
  const hasAccess = (user: string): string => question.replace('$1', `'${user}'`)
  const printed = runInPostgres([
    ...roles,
    ...shown.filter((text) => text !== question),
    receiving('evt_1', true, 0),
    hasAccess('user_1001'),
    hasAccess('another'),
    receiving('evt_1', false, 1),
    receiving('evt_0', false, -1),
    hasAccess('user_1001'),
    receiving('evt_2', false, 2),
    hasAccess('user_1001'),
  ])
  expect(printed.match(/(?<=exists = ")[tf]/g)).toEqual(['t', 'f', 't', 'f'])
})
