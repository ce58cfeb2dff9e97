/** The commands `windfall webhooks list`, `pause`, `resume`, `rotate`, `dismiss` and `remove`. */
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import { commandName } from '../../program/form.ts'
import {
  columns,
  configArg,
  instantText,
  organizationArg,
  plural,
  sendVerb,
  withInstance,
} from '../instance/instance.ts'
import { isJson, print, printError } from '../instance/output.ts'
import { type Created, confirm, type Endpoint, type Endpoints, nameArg, waitingText } from './texts.ts'

const HEADER = ['name', 'state', 'since', 'succeeded', 'waiting', 'given up', 'last success', 'URL']

export const listCommand = defineCommand({
  meta: {
    name: 'list',
    description: 'List endpoints with state, success rate of seven days, what waits, and what was given up',
  },
  args: configArg,
  async run({ args }) {
    const answer = await sendVerb<Endpoints & { is_serving: boolean }>(args.config, 'webhooks.list', {})
    const { endpoints, held, is_serving } = answer
    if (endpoints.length === 0)
      return print(`There are no endpoints yet; run: ${commandName} webhooks add URL`)
    print(columns([HEADER, ...endpoints.map(rowOf)]))
    for (const text of endpoints.flatMap(failureText)) printError(text)
    if (held !== null)
      printError(`Nothing is sent: the database was ${held.reason}. Run windfall outgoing resume.`)
    if (!is_serving) printError('No server runs: nothing is sent until one is started.')
  },
})

/** The last answer of an endpoint that fails, when it is tried next, and what to do. */
function failureText({ name, state, health }: Endpoint): string[] {
  const { last_failure_words: words, next_attempt_at: at } = health
  if (words === null) return []
  const next = at === null ? '' : ` The next attempt is at ${instantText(at)}.`
  const command = state === 'failing' ? 'retry' : 'resume'
  return [`${name}: ${words}${next} Repair the receiver, then run windfall webhooks ${command} ${name}.`]
}

function rowOf(endpoint: Endpoint): (string | null)[] {
  const { name, state_since, health, url } = endpoint
  const { attempts, succeeded, waiting, is_waiting_capped, lost, last_success_at } = health
  const rate = attempts === 0 ? null : `${((100 * succeeded) / attempts).toFixed(1)} % of ${attempts}`
  const count = `${waiting}${is_waiting_capped ? '+' : ''}`
  const since = instantText(state_since)
  return [name, stateText(endpoint), since, rate, count, String(lost), instantText(last_success_at), url]
}

function stateText({ state, reason, health, unreadable }: Endpoint): string {
  if (unreadable.length > 0) return `stopped (${unreadable.join(', ')} cannot be read)`
  const { is_unsteady, hold_until_at } = health
  const why = reason?.replaceAll('_', ' ') ?? (is_unsteady ? 'many fail' : null)
  const hold = hold_until_at === null ? null : `asked to wait until ${instantText(hold_until_at)}`
  const about = [why, hold].filter((part) => part !== null)
  return about.length === 0 ? state : `${state} (${about.join(', ')})`
}

const namedArgs = { ...nameArg, ...organizationArg, ...configArg } as const
type NamedArgs = { name: string; organization?: string | undefined }
const named = ({ name, organization = undefined }: NamedArgs) => ({
  name,
  organization: organization ?? null,
})

export const pauseCommand = defineCommand({
  meta: { name: 'pause', description: 'Pause an endpoint; events wait until it is resumed' },
  args: namedArgs,
  async run({ args }) {
    const { name } = await sendVerb<Endpoint>(args.config, 'webhooks.pause', named(args))
    print(`${name} is paused. Events wait until: ${commandName} webhooks resume ${name}`)
  },
})

export const resumeCommand = defineCommand({
  meta: { name: 'resume', description: 'Resume an endpoint: send what waited, or continue from now' },
  args: {
    ...namedArgs,
    'send-waiting': { type: 'boolean', default: false, description: 'Send what waited, oldest first' },
    'from-now': {
      type: 'boolean',
      default: false,
      description: 'Skip what waited; it can be replayed later',
    },
  },
  async run({ args }) {
    await withInstance(args.config, async (send) => {
      const before = await send<Endpoint>('webhooks.show', named(args))
      // If nothing waits, both continue at the same place.
      if (args['send-waiting'] === args['from-now'] && before.health.waiting > 0)
        throw new Refusal(
          400,
          'invalid_request',
          `${waitingText(before)}. Choose --send-waiting or --from-now`,
        )
      const from = args['from-now'] ? 'now' : 'waiting'
      const { name } = await send<Endpoint>('webhooks.resume', { ...named(args), from })
      print(`${name} is active. ${outcomeText(before, from)}`)
    })
  },
})

function outcomeText(before: Endpoint, from: 'waiting' | 'now'): string {
  if (before.health.waiting === 0) return 'Nothing waited.'
  return from === 'now' ? `${waitingText(before)}: skipped.` : `${waitingText(before)}: sent now.`
}

const MAX_OVERLAP_HOURS = 720

export const rotateCommand = defineCommand({
  meta: { name: 'rotate', description: 'Create a new secret; both sign until the earlier one ends' },
  args: {
    ...namedArgs,
    overlap: {
      type: 'string',
      default: '24',
      valueHint: 'HOURS',
      description: 'Hours for which the earlier secret signs too, 0 to 720',
    },
  },
  async run({ args }) {
    const overlap_hours = parseHours(args.overlap)
    const request = { ...named(args), overlap_hours }
    const { endpoint, secret } = await sendVerb<Created>(args.config, 'webhooks.rotate', request)
    print(`${endpoint.id}  ${endpoint.name}  ${secret}`)
    const earlier = overlap_hours === 0 ? 'ended' : `signs for ${plural(overlap_hours, 'hour')} more`
    printError(`The new secret is shown only once. The earlier one ${earlier}.`)
  },
})

function parseHours(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= MAX_OVERLAP_HOURS) return Number(text)
  throw new Refusal(400, 'invalid_request', `--overlap must be 0 to ${MAX_OVERLAP_HOURS} hours, not ${text}`)
}

const deliveriesText = (count: number, which = ''): string =>
  `${count.toLocaleString('en-US')} ${which}${count === 1 ? 'delivery' : 'deliveries'}`

export const dismissCommand = defineCommand({
  meta: { name: 'dismiss', description: 'Report no longer what was given up: it need not be sent again' },
  args: namedArgs,
  async run({ args }) {
    const answer = await sendVerb<{ name: string; dismissed: number }>(
      args.config,
      'webhooks.dismiss',
      named(args),
    )
    const { name, dismissed } = answer
    if (dismissed === 0) return print(`Nothing to dismiss: no delivery to ${name} was given up.`)
    print(`${name}: ${deliveriesText(dismissed)} dismissed. The log keeps what was given up.`)
  },
})

export const removeCommand = defineCommand({
  meta: { name: 'remove', description: 'Delete an endpoint and drop what waits; its log stays' },
  args: { ...namedArgs, yes: { type: 'boolean', default: false, description: 'Do not ask' } },
  async run({ args }) {
    await withInstance(args.config, async (send) => {
      const before = await send<Endpoint>('webhooks.show', named(args))
      if (before.health.waiting > 0 && !args.yes) {
        if (isJson())
          throw new Refusal(400, 'invalid_request', '--json cannot ask; add --yes to drop what waits')
        print(`${waitingText(before)}. They are dropped if you delete ${before.name}.`)
        if (!(await confirm(`Delete ${before.name}?`)))
          throw new Refusal(400, 'declined', 'Nothing was deleted.')
      }
      // Meanwhile another endpoint can have this name.
      const one = named({ ...args, name: before.id })
      const answer = await send<{ name: string; dropped: number }>('webhooks.remove', one)
      const { name, dropped } = answer
      print(`${name} is deleted. ${deliveriesText(dropped, 'waiting ')} dropped.`)
    })
  },
})
