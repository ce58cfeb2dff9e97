/** The command `windfall forget`: erases a user from everything that Windfall stores. */
import { defineCommand } from 'citty'
import type { ErasureProgress } from '../attribution/erasure/erasure.ts'
import type { ErasureRecord } from '../attribution/erasure/erasure_records.ts'
import { Refusal } from '../errors.ts'
import {
  columns,
  configArg,
  instantText,
  organizationArg,
  plural,
  sendVerb,
  withInstance,
} from './instance/instance.ts'
import { print, printError, setResult } from './instance/output.ts'
import { follow } from './instance/progress.ts'

export const forgetCommand = defineCommand({
  meta: {
    name: 'forget',
    description: 'Permanently erase a user of one app: attributes, device, links, and their id in events',
  },
  args: {
    user: { type: 'positional', required: false, description: 'The user id that your app sends' },
    app: { type: 'string', valueHint: 'BUNDLE', description: 'The bundle id of the user’s app' },
    unknown: {
      type: 'boolean',
      description: 'Erase an unknown user, too: later calls for the id are refused',
    },
    list: { type: 'boolean', description: 'List erasures, without the users' },
    compact: {
      type: 'boolean',
      description: 'Rewrite the whole database file (VACUUM); blocks everything until done',
    },
    'undo-tombstone': {
      type: 'boolean',
      description: 'Accept calls for this user id again; erased data is not restored',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { user, app, list, compact, unknown = false, config } = args
    if (list) return printList(config)
    if (compact && user === undefined) return void (await compactDatabase(config))
    if (user === undefined || app === undefined) {
      const usage =
        'name the user: windfall forget --app BUNDLE USER; or list erasures: windfall forget --list'
      throw new Refusal(400, 'invalid_request', usage)
    }
    const target = { organization: args.organization ?? null, app, app_user_id: user }
    if (args['undo-tombstone']) return liftTombstone(config, target)
    const erasure = await withInstance(config, (send) =>
      follow<ErasureRecord, ErasureProgress>(send, {
        verb: 'forget.user',
        args: { ...target, even_unknown: unknown },
        status: 'forget.status',
        progressText,
      }),
    )
    const { id, links, scrubbed, finished_at, state } = erasure
    const from = `from ${plural(links, 'link')} and ${plural(scrubbed, 'event')}`
    if (state === 'done') print(`Erased on ${instantText(finished_at)} ${from}. Erasure id: ${id}`)
    else print(`Erased ${from}; pending in the log. Erasure id: ${id}`)
    if (state !== 'done') printError(PENDING_TEXT)
    const compacted = compact ? await compactDatabase(config) : null
    setResult({ ...erasure, compacted })
    printError(
      'Windfall now refuses calls for this user id. Earlier backups and replicas still contain the user.',
    )
  },
})

const PENDING_TEXT =
  'Another program reads the database, so the write-ahead log still has old pages with the data. ' +
  'While Windfall serves, it retries until they are gone: with Litestream within two minutes. windfall forget --list shows the state.'

type ErasureTarget = { organization: string | null; app: string; app_user_id: string }

async function liftTombstone(config: string | undefined, target: ErasureTarget): Promise<void> {
  const { id } = await sendVerb<ErasureRecord>(config, 'forget.lift', target)
  print(`Calls for this user id are accepted again. The erased data is not restored. Erasure id: ${id}`)
}

/** `in_log`: whether the write-ahead log still has old pages. */
type Compaction = { bytes: number; in_log: boolean }

async function compactDatabase(config: string | undefined): Promise<Compaction> {
  const compaction = await sendVerb<Compaction>(config, 'forget.compact', {})
  const { bytes, in_log } = compaction
  print(`The database file was rewritten: ${plural(bytes, 'byte')}${in_log ? '; pending in the log' : ''}.`)
  if (in_log) printError(PENDING_TEXT)
  return compaction
}

const STATE_TEXTS = { running: 'running', pending_in_log: 'pending in the log' } as const
const HEADER = ['id', 'app', 'requested', 'by', 'done', 'links', 'events']

async function printList(config: string | undefined): Promise<void> {
  const { erasures } = await sendVerb<{ erasures: ErasureRecord[] }>(config, 'forget.list', {})
  if (erasures.length === 0) return print('No erasures.')
  print(columns([HEADER, ...erasures.map(rowOf)]))
}

const rowOf = (one: ErasureRecord) => [
  one.id,
  one.bundle_id,
  instantText(one.asked_at),
  one.asked_by,
  one.state === 'done' ? instantText(one.finished_at) : STATE_TEXTS[one.state],
  one.links,
  one.scrubbed,
]

const progressText = ({ done, of }: ErasureProgress): string =>
  `${done.toLocaleString('en-US')} of ${plural(of, 'event')} checked`
