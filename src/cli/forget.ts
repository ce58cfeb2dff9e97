/** The command `windfall forget`: a person's data taken out of everything, at their wish. */
import { defineCommand } from 'citty'
import type { ErasureProgress } from '../attribution/erasure/erasure.ts'
import type { ErasureRecord } from '../attribution/erasure/erasure_records.ts'
import { Refusal } from '../errors.ts'
import {
  columns,
  configArg,
  organizationArg,
  plural,
  print,
  printError,
  sendVerb,
  shownAt,
  withInstance,
} from './instance/instance.ts'
import { follow } from './instance/progress.ts'

export const forgetCommand = defineCommand({
  meta: {
    name: 'forget',
    description:
      'Forget a user of one app for good: attributes, device, links, and wherever events name them',
  },
  args: {
    user: { type: 'positional', required: false, description: 'The user id, as your app sends it' },
    app: { type: 'string', valueHint: 'BUNDLE', description: 'The app whose user it is' },
    unknown: { type: 'boolean', description: 'Also where nothing is known of them, so that nothing ever is' },
    list: { type: 'boolean', description: 'Show that users were forgotten and when; not who' },
    compact: {
      type: 'boolean',
      description: 'Write the whole file anew, unused parts of its pages included; all else waits meanwhile',
    },
    'undo-tombstone': {
      type: 'boolean',
      description: 'Accept calls for this user id again; nothing forgotten comes back',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { user, app, list, compact, unknown = false, config } = args
    if (list) return printList(config)
    if (compact && user === undefined) return compactDatabase(config)
    if (user === undefined || app === undefined) {
      const usage = 'windfall forget --app BUNDLE USER says whom to forget; --list shows what was done'
      throw new Refusal(400, 'invalid_request', usage)
    }
    const target = { organization: args.organization ?? null, app, app_user_id: user }
    if (args['undo-tombstone']) return undo(config, target)
    const erasure = await withInstance(config, (send) =>
      follow<ErasureRecord, ErasureProgress>(send, {
        verb: 'forget.user',
        args: { ...target, even_unknown: unknown },
        status: 'forget.status',
        progressText,
      }),
    )
    const { id, links, scrubbed, finished_at } = erasure
    print(
      `Forgotten on ${shownAt(finished_at)}: ${plural(links, 'link')} and ${plural(scrubbed, 'event')} named them. Recorded as ${id}.`,
    )
    if (compact) await compactDatabase(config)
    printError(
      'Calls for this user id are refused from now on. Backups taken before still hold what they held.',
    )
  },
})

type ErasureTarget = { organization: string | null; app: string; app_user_id: string }

async function undo(config: string | undefined, target: ErasureTarget): Promise<void> {
  const { id } = await sendVerb<ErasureRecord>(config, 'forget.lift', target)
  print(`Calls for this user id are accepted again. What was forgotten (${id}) stays forgotten.`)
}

async function compactDatabase(config: string | undefined): Promise<void> {
  const { bytes } = await sendVerb<{ bytes: number }>(config, 'forget.compact', {})
  print(`The file is written anew: ${plural(bytes, 'byte')}.`)
}

const HEAD = ['id', 'app', 'asked for', 'by', 'done', 'links', 'events']

async function printList(config: string | undefined): Promise<void> {
  const { erasures } = await sendVerb<{ erasures: ErasureRecord[] }>(config, 'forget.list', {})
  if (erasures.length === 0) return print('Nobody was forgotten.')
  print(columns([HEAD, ...erasures.map(rowOf)]))
}

const rowOf = (one: ErasureRecord) => [
  one.id,
  one.bundle_id,
  shownAt(one.asked_at),
  one.asked_by,
  one.finished_at === null ? 'under way' : shownAt(one.finished_at),
  one.links,
  one.scrubbed,
]

const progressText = ({ done, of }: ErasureProgress): string =>
  `${done.toLocaleString('en-US')} of ${plural(of, 'event')} looked at`
