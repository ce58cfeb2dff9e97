/** The command `windfall alerts`: test messages, what was sent, and the mute. */
import { defineCommand } from 'citty'
import type { InferOutput } from 'valibot'
import type { MessagesAnswer } from '../api/alerts/history.ts'
import { commandName } from '../program/form.ts'
import {
  columns,
  configArg,
  instantText,
  organizationArg,
  sendVerb,
  stripControls,
} from './instance/instance.ts'
import { limitArg, parseLimit } from './instance/limit.ts'
import { print } from './instance/output.ts'

type Message = InferOutput<typeof MessagesAnswer>['messages'][number]
type Tested = { channels: { name: string; kind: string; result: string; words: string | null }[] }

const testCommand = defineCommand({
  meta: { name: 'test', description: 'Send a test message and show the provider’s answer' },
  args: {
    name: { type: 'positional', required: false, description: 'Name or id of a channel; all by default' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { name = null, organization = null } = args
    const { channels } = await sendVerb<Tested>(args.config, 'alerts.test', { name, organization })
    print(
      columns(
        channels.map(({ name: channel, kind, result, words }) => [
          channel,
          kind,
          result === 'sent' ? 'sent' : 'failed',
          stripControls(words ?? ''),
        ]),
      ),
    )
    if (channels.some(({ result }) => result !== 'sent')) process.exitCode = 1
  },
})

const logCommand = defineCommand({
  meta: { name: 'log', description: 'List the newest messages: what was sent, where, and why or why not' },
  args: { ...limitArg, ...organizationArg, ...configArg },
  async run({ args }) {
    const { organization = null } = args
    const query = { organization, limit: parseLimit(args.limit) }
    const { messages, held } = await sendVerb<{ messages: Message[]; held: object | null }>(
      args.config,
      'alerts.log.list',
      query,
    )
    print(messages.length === 0 ? 'No messages.' : columns(messages.toReversed().flatMap(rowsOf)))
    if (held !== null) print(`Outgoing requests are held; to see why: ${commandName} outgoing`)
  },
})

/** What stands for the title of a message whose text was not written. */
const UNWRITTEN: Record<string, string> = {
  joined: 'part of a summary',
  waiting: 'written when it is sent',
  held: 'written when it is sent',
}

/** One line for each channel. */
function rowsOf({ created_at, rule_name, kind, title, sends }: Message): string[][] {
  const when = [instantText(created_at), rule_name ?? kind]
  if (sends.length === 0) return [[...when, stripControls(title ?? ''), '', 'no channel', '']]
  return sends.map(({ channel_name, state, words, due_at }) => {
    const what = title ?? UNWRITTEN[state] ?? ''
    const plan = due_at === null ? '' : `due at ${instantText(due_at)}`
    return [...when, stripControls(what), channel_name, state, stripControls(words ?? plan)]
  })
}

const muteCommand = defineCommand({
  meta: { name: 'mute', description: 'Send nothing for a while; afterwards one summary' },
  args: {
    until: { type: 'positional', required: true, description: '90m, 1h, 2d, tomorrow (08:00), or off' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { until: words, organization = null } = args
    const { muted_until, time_zone } = await sendVerb<{ muted_until: number | null; time_zone: string }>(
      args.config,
      'alerts.mute',
      { words, organization },
    )
    print(
      muted_until === null
        ? 'Alerts are not muted.'
        : `Alerts are muted until ${new Date(muted_until).toLocaleString('en-GB', { timeZone: time_zone, dateStyle: 'medium', timeStyle: 'short' })} (${time_zone}).`,
    )
  },
})

export const alertsCommand = defineCommand({
  meta: { name: 'alerts', description: 'Messages to your phone: test a channel, what was sent, and mute' },
  subCommands: { test: testCommand, log: logCommand, mute: muteCommand },
})
