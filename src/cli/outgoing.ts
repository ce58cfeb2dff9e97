/** The command `windfall outgoing`: shows and resumes held requests, and replaces a lost sealing key. */
import { defineCommand } from 'citty'
import { utcMinuteText } from '../days.ts'
import type { KeyState } from '../outgoing/secrets.ts'
import { commandName } from '../program/form.ts'
import type { HeldMark } from '../store/held_mark.ts'
import { configArg, sendVerb } from './instance/instance.ts'
import { print } from './instance/output.ts'

type Status = { held: HeldMark | null; key: KeyState }

const status = defineCommand({
  meta: { name: 'status', description: 'Show whether requests are sent and secrets can be read' },
  args: configArg,
  async run({ args }) {
    const { held, key } = await sendVerb<Status>(args.config, 'outgoing.status', {})
    print(
      held === null
        ? 'Requests are sent.'
        : `Requests are held since ${utcMinuteText(held.at)}: the database was ${held.reason}. To send them, run ${commandName} outgoing resume.`,
    )
    print(keyText(key))
  },
})

function keyText({ state, file, words }: KeyState): string {
  if (state === 'unused') return 'No secret is stored.'
  return words === null ? `Secrets are sealed with ${file}.` : `Secrets cannot be read: ${words}.`
}

const resume = defineCommand({
  meta: { name: 'resume', description: 'Send requests from this database, after a restore or a copy' },
  args: {
    'from-head': {
      type: 'boolean',
      default: false,
      description: 'Skip what waits for webhooks, because the original has sent it; it can be replayed',
    },
    ...configArg,
  },
  async run({ args }) {
    const from_head = args['from-head']
    const { was_held } = await sendVerb<{ was_held: boolean }>(args.config, 'outgoing.resume', { from_head })
    const skipped = from_head ? ', beginning with the next event' : ''
    print(was_held ? `Requests are sent from now on${skipped}.` : 'Requests were not held.')
  },
})

const newKey = defineCommand({
  meta: {
    name: 'new-key',
    description: 'Use the key in windfall.key, or a new one; earlier secrets must be entered again',
  },
  args: configArg,
  async run({ args }) {
    const { file } = await sendVerb<KeyState>(args.config, 'outgoing.new_key', {})
    print(`Secrets are sealed with ${file} from now on. Enter again those that were sealed with another key.`)
  },
})

export const outgoingCommand = defineCommand({
  meta: { name: 'outgoing', description: 'Control requests to your own addresses after a restore' },
  subCommands: { status, resume, 'new-key': newKey },
})
