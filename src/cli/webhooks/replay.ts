/** The command `windfall webhooks replay`: counts past events, sends them again, and follows them. */
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import type { InferOutput } from 'valibot'
import type { ReplayAnswer, ReplayPreview } from '../../api/forwarding/answers.ts'
import { systemClock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { commandName } from '../../program/form.ts'
import {
  configArg,
  instantText,
  organizationArg,
  plural,
  type SendVerb,
  withInstance,
} from '../instance/instance.ts'
import { isJson, print, printError, setResult } from '../instance/output.ts'
import { progressPrinter } from '../instance/progress.ts'
import { confirm, listOf } from './texts.ts'

type Replay = InferOutput<typeof ReplayAnswer>
type Preview = InferOutput<typeof ReplayPreview>
type Waits = { untried: number; refused: number; next_attempt_at: number | null }
type Status = {
  replay: Replay
  waits: Waits
  endpoint_state: string | null
  is_serving: boolean
  is_held: boolean
}

const POLL_MS = 1_000
/** Shorter waits are given in seconds. */
const IN_SECONDS_S = 300

const INSTANT = 'a date such as 2026-05-01T08:00Z, or a duration such as 7d'
const seqArg = (description: string) => ({ type: 'string', valueHint: 'SEQ', description }) as const

export const replayCommand = defineCommand({
  meta: { name: 'replay', description: 'Send past events again, with the same ids' },
  args: {
    name: {
      type: 'positional',
      required: false,
      description: 'Name or id of the endpoint, from `webhooks list`',
    },
    since: { type: 'string', valueHint: 'TIME', description: `Events since then: ${INSTANT}` },
    until: { type: 'string', valueHint: 'TIME', description: 'Events before then' },
    'from-seq': seqArg('Events from this seq on'),
    'until-seq': seqArg('Events up to this seq'),
    failed: {
      type: 'boolean',
      default: false,
      description: 'All deliveries that were given up and not dismissed',
    },
    delivery: { type: 'string', valueHint: 'N', description: 'One delivery, from `webhooks log`' },
    types: { type: 'string', valueHint: 'TYPES', description: 'Only these event types (comma-separated)' },
    yes: { type: 'boolean', default: false, description: 'Do not ask' },
    stop: { type: 'string', valueHint: 'ID', description: 'Stop this replay instead' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { name, organization = null, since = null, until = null, failed, stop } = args
    await withInstance(args.config, async (send) => {
      if (stop !== undefined) return printStopped(await send<Replay>('webhooks.replay.stop', { id: stop }))
      if (name === undefined)
        throw new Refusal(400, 'invalid_request', 'name an endpoint; windfall webhooks list shows them')
      assertSelection([since, until, args['from-seq'], args['until-seq'], args.delivery], failed)
      const types = listOf(args.types)
      const request = {
        name,
        organization,
        since,
        until,
        failed,
        delivery_id: parseNumber('delivery', args.delivery),
        from_seq: parseNumber('from-seq', args['from-seq']),
        until_seq: parseNumber('until-seq', args['until-seq']),
        ...(types && { types }),
      }
      if (isJson() && !args.yes)
        throw new Refusal(400, 'invalid_request', '--json cannot ask; add --yes to send the events again')
      const preview = await send<Preview>('webhooks.preview.show', request)
      print(previewText(preview))
      if (preview.matching === 0) return
      if (!args.yes && !(await confirm('Send them again?')))
        throw new Refusal(400, 'declined', 'Nothing was sent.')
      const { id } = await send<Replay>('webhooks.replay', request)
      printError(`Replay ${id} runs. To stop it: windfall webhooks replay --stop ${id}`)
      await followReplay(send, id, preview.matching)
    })
  },
})

/** @throws Refusal 400 `invalid_request` if no option says what to replay */
function assertSelection(options: readonly (string | null | undefined)[], failed: boolean): void {
  if (failed || options.some((one) => one !== null && one !== undefined)) return
  const detail = 'choose what to replay: --since, --until, --from-seq, --until-seq, --failed or --delivery'
  throw new Refusal(400, 'invalid_request', detail)
}

function parseNumber(option: string, text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--${option} must be a positive whole number, not ${text}`)
}

function previewText({ matching, is_capped, first_at, last_at }: Preview): string {
  if (matching === 0) return 'No event matches.'
  const count = `${is_capped ? 'At least ' : ''}${plural(matching, 'event')}`
  return `${count}, from ${instantText(first_at)} to ${instantText(last_at)}.`
}

/**
 * Shows the progress, of `expected` events or more, until everything was tried once, or until it has to wait. Ctrl-C
 * leaves the replay running.
 */
async function followReplay(send: SendVerb, id: string, expected: number): Promise<void> {
  const printer = progressPrinter()
  try {
    for (;;) {
      const status = await send<Status>('webhooks.replay.status', { id })
      const { made, waiting, state } = status.replay
      const { untried, refused, next_attempt_at } = status.waits
      const obstacle = obstacleOf(status)
      setResult({ ...status.replay, refused, next_attempt_at, waits_for: obstacle })
      if (state === 'stopped') return printStopped(status.replay)
      if (state === 'done' && waiting === 0) return print(doneText(status.replay))
      if (obstacle !== null) return print(`The replay waits: ${obstacle}.`)
      if (state === 'done' && untried === 0) return print(triedText(status))
      const [sent, of] = [made - waiting, Math.max(made, expected)]
      printer.progress({ done: sent, of }, `${sent.toLocaleString('en-US')} of ${plural(of, 'event')} sent`)
      await setTimeout(POLL_MS)
    }
  } finally {
    printer.end()
  }
}

/** Why nothing is sent now; null if requests are sent. */
function obstacleOf({ replay, endpoint_state, is_serving, is_held }: Status): string | null {
  if (!is_serving) return 'no server runs; it continues when one is started'
  if (is_held) return `requests are held; run ${commandName} outgoing resume`
  if (endpoint_state === 'failing')
    return `the endpoint is failing; ${commandName} webhooks retry ${replay.endpoint_id} tries it now`
  return endpoint_state === 'active' ? null : `the endpoint is ${endpoint_state ?? 'deleted'}`
}

const doneText = ({ delivered, failed }: Replay): string =>
  `${plural(delivered, 'event')} delivered${failed === 0 ? '' : `, ${failed.toLocaleString('en-US')} failed`}.`

/** When the next attempt is: in seconds, where an instant to the minute would say too little. */
function nextText(at: number | null): string {
  const left_s = at === null ? null : Math.ceil((at - systemClock()) / 1_000)
  if (left_s === null || left_s >= IN_SECONDS_S) return `at ${instantText(at)}`
  return left_s <= 0 ? 'now' : `in ${left_s} s`
}

/** What was tried once, and when the rest is tried again. */
function triedText({
  replay: { delivered, failed, waiting },
  waits: { refused, next_attempt_at },
}: Status): string {
  const number = (count: number): string => count.toLocaleString('en-US')
  const behind = waiting - refused
  const parts = [`${plural(delivered, 'event')} delivered`]
  if (failed > 0) parts.push(`${number(failed)} failed`)
  if (refused > 0) parts.push(`${number(refused)} refused and tried again ${nextText(next_attempt_at)}`)
  if (behind > 0) parts.push(`${number(behind)} behind an earlier event of the same subject`)
  return `${parts.join(', ')}.\nTo follow them: ${commandName} webhooks log`
}

const printStopped = ({ id, delivered }: Replay): void =>
  print(`Replay ${id} is stopped. ${plural(delivered, 'event')} delivered.`)
