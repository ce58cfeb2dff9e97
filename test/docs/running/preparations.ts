/** What has to be there before a command of the documents: files of the reader, an endpoint, a user. */

import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { blocksOf } from '../snippets.ts'
import type { Instance } from './instance.ts'
import { ENDPOINT, filled, type Place } from './placeholders.ts'

/** `command`: which commands, with their placeholders filled in, it precedes. */
type Preparation = { command: RegExp; prepare: (place: Place, found: RegExpExecArray) => unknown }

const PREPARATIONS: readonly Preparation[] = [
  // A backup must not exist yet, and a restored one has to.
  {
    command: /^windfall backup (\S+)/,
    prepare: ({ folder }, [, file = '']) => renew(join(at(folder, file)), null),
  },
  {
    command: /^windfall(?:\.previous)? (?:restore|verify) (\S+\.tar(?:\.zst)?|\S*FILE)(?!\S)(.*)/,
    prepare: (place, [, file = '', options = '']) => needBackup(place, file, options.includes('--identity')),
  },
  { command: /^zstd -dc FILE/, prepare: (place) => needBackup(place, 'FILE', false) },
  {
    command: /(\S+\/replica\.db)$/,
    prepare: ({ folder, instance }, [, destination = '']) => {
      const file = at(folder, destination)
      renew(file, null)
      return instance.send('database.copy', { destination: file })
    },
  },
  // `init` does not replace a configuration, and `--config` names one that exists.
  { command: /^windfall init/, prepare: ({ folder }) => renew(join(folder, 'config.toml'), null) },
  {
    command: /--config (\S+\/etc\/\S+)/,
    prepare: ({ folder }, [, file = '']) => renew(at(folder, file), '[rates]\nfetch = false\n'),
  },
  // Files of the reader.
  {
    command: /^windfall (?:links|rates) import (\S+)(?: --base (EUR))?/,
    prepare: (place, [, file = '', base = '']) => writeRows(place, file, base),
  },
  {
    command: /(?:^sha256sum .*|^chmod \+x |^\.\/)(windfall-[\d.]+-linux-x64)/,
    prepare: ({ folder }, [, name = '']) => writeProgram(folder, name),
  },
  {
    command: /< (\S+\.sql)$/,
    prepare: ({ folder }, [, file = '']) => renew(at(folder, file), 'select count(*) from events'),
  },
  { command: /^mv (\S+)/, prepare: ({ folder }, [, file = '']) => renew(at(folder, file), '') },
  {
    command: /> (\S+)$/,
    prepare: ({ folder }, [, file = '']) => makeFolder(at(folder, file.replace('~/', ''))),
  },
  // Endpoints. Each `add` begins without one; other commands have one that is active, or paused.
  { command: /^windfall webhooks add/, prepare: (place) => removeEndpoint(place, ENDPOINT) },
  {
    command: /^windfall webhooks add .*--name (\w+)/,
    prepare: (place, [, name = '']) => removeEndpoint(place, name),
  },
  {
    command: /^windfall webhooks (?:test|replay|pause|rotate|remove|log) (127\.0\.0\.1|[a-z]\w*)/,
    prepare: (place, [, name = '']) => needEndpoint(place, name),
  },
  {
    command: /^windfall webhooks resume (\S+)/,
    prepare: async (place, [, name = '']) => {
      await needEndpoint(place, name)
      await place.instance.send('webhooks.pause', { name })
    },
  },
  { command: /user-1|links import/, prepare: needUser },
  // An app that the simulated store does not have would be a fault.
  { command: /^windfall (?:doctor|apps add)/, prepare: ({ instance }) => removeApp(instance) },
  {
    command: /^windfall apps remove (\S+)/,
    prepare: ({ instance }, [, bundle_id]) => instance.send('apps.add', { bundle_id }),
  },
  { command: /^windfall rates remove/, prepare: needRate },
]

/** Prepares what a command needs. */
export async function prepare(command: string, place: Place): Promise<void> {
  for (const { command: pattern, prepare: run } of PREPARATIONS) {
    const found = pattern.exec(command)
    if (found) await run(place, found)
  }
}

/** What is typed into a command: the passphrase that it asks for, or yes. */
export const typedInto = (command: string): string =>
  command.includes('--passphrase') ? 'correct horse battery staple\n' : 'y\n'

const at = (folder: string, file: string): string => (file.startsWith('/') ? file : join(folder, file))
const makeFolder = (file: string): void => void mkdirSync(dirname(file), { recursive: true, mode: 0o700 })

/** Writes a file, with its folder. Null removes it. */
function renew(file: string, text: string | Uint8Array | null): void {
  makeFolder(file)
  rmSync(file, { force: true })
  if (text !== null) writeFileSync(file, text, { mode: 0o600 })
}

/** A backup of the instance: what an earlier command of the page made, or a new one. */
async function needBackup({ folder, instance }: Place, name: string, isEncrypted: boolean): Promise<void> {
  const { identity, recipient } = instance.age
  renew(join(folder, 'windfall-identity.txt'), `${identity}\n`)
  const lock = isEncrypted ? { recipients: [recipient] } : null
  const made = join(instance.folder, `backups/${isEncrypted ? 'encrypted' : 'plain'}.tar`)
  if (!existsSync(made)) await instance.send('backup', { destination: made, lock })
  const file = at(folder, name)
  renew(file, null)
  copyFileSync(made, file)
}

/** The rows of the CSV that a page shows. */
const rowsShownIn = (page: string): string =>
  blocksOf(page).find(({ language }) => language === 'csv')?.text ?? ''

/** The header of each file with links that is not Windfall’s own, and a row. */
const EXPORTS: Record<string, string> = {
  'transactions.csv.gz':
    'store,is_sandbox,rc_last_seen_app_user_id_alias,original_store_transaction_id\napp_store,false,user-1,2000000123456789\n',
  'events.csv':
    'store,environment,customer_user_id,original_transaction_id\napp_store,Production,user-1,2000000123456789\n',
  'customers.csv': 'customer,first_transaction\nuser-1,2000000123456789\n',
  'users.csv': 'customer,transaction\nuser-1,2000000123456789\n',
  'links.csv': rowsShownIn('docs/moving-in.md'),
  'rates.csv': rowsShownIn('docs/operations.md'),
  'rates.csv EUR': 'date,currency,rate\n2019-02-01,USD,1.14\n2019-02-01,JPY,124.8\n',
}

async function writeRows(place: Place, file: string, base: string): Promise<void> {
  const shown = await filled(EXPORTS[`${basename(file)} ${base}`.trim()] ?? '', place)
  // Another page may have imported the same rows, and a file is imported once.
  const rows = shown.replaceAll('""pro""', `""pro of ${basename(place.folder)}""`)
  renew(at(place.folder, file), file.endsWith('.gz') ? gzipSync(rows) : rows)
}

/** A downloaded program with its checksum. It runs the built program. */
function writeProgram(folder: string, name: string): void {
  const script = '#!/bin/sh\nexec windfall "$@"\n'
  renew(join(folder, name), script)
  chmodSync(join(folder, name), 0o700)
  const sha256 = createHash('sha256').update(script).digest('hex')
  renew(join(folder, `${name}.sha256`), `${sha256}  ${name}\n`)
}

type Endpoints = { endpoints: { name: string }[] }

async function removeEndpoint({ instance: { send } }: Place, name: string): Promise<void> {
  const { endpoints } = await send<Endpoints>('webhooks.list', {})
  if (endpoints.some((one) => one.name === name)) await send('webhooks.remove', { name })
}

async function needEndpoint({ instance: { send, receiver } }: Place, name: string): Promise<void> {
  const { endpoints } = await send<Endpoints>('webhooks.list', {})
  if (!endpoints.some((one) => one.name === name)) await send('webhooks.add', { url: receiver, name })
  else await send('webhooks.resume', { name, from: 'now' }).catch(() => {})
}

/** Identifies the user of the documents, unless it was deleted: then the deletion is lifted first. */
async function needUser({ instance: { send, post, bundle, secret } }: Place): Promise<void> {
  await send('forget.lift', { app: bundle, app_user_id: 'user-1' }).catch(() => {})
  const call = { appUserId: 'user-1', bundleId: bundle }
  await post('/api/sdk/v1/identify', call, { authorization: `Bearer ${secret}` })
}

/** Imports the rates that a page shows, once. */
async function needRate(place: Place): Promise<void> {
  const csv = await filled(EXPORTS['rates.csv'] ?? '', place)
  await place.instance.send('rates.import', { csv, base: 'USD' })
}

const removeApp = ({ send }: Instance): Promise<unknown> =>
  send('apps.remove', { bundle_id: 'com.example.app' }).catch(() => {})
