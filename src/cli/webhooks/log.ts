/** The command `windfall webhooks log`: deliveries, one line each, or one of them with its attempts. */
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import {
  columns,
  configArg,
  instantText,
  organizationArg,
  type SendVerb,
  stripControls,
  withInstance,
} from '../instance/instance.ts'
import { isJson, print, printError } from '../instance/output.ts'
import { stopSignal } from '../serve.ts'
import { type Delivery, resultText } from './texts.ts'

type Row = Omit<Delivery, 'body' | 'body_sha256' | 'request_headers' | 'attempt_log'> & {
  endpoint_state: string | null
}

const SHOWN = 50
const FOLLOW_MS = 1_000
/** With `--follow`, this many of the newest deliveries are compared with what was printed. */
const FOLLOWED = 500

export const logCommand = defineCommand({
  meta: { name: 'log', description: 'List the newest deliveries, or show one with its attempts' },
  args: {
    name: { type: 'positional', required: false, description: 'Name or id of an endpoint; all by default' },
    state: {
      type: 'string',
      valueHint: 'STATE',
      description: 'Only waiting, delivered, failed, dropped or skipped',
    },
    type: { type: 'string', valueHint: 'TYPE', description: 'Only this event type' },
    follow: { type: 'boolean', default: false, description: 'Also print each change, until Ctrl-C' },
    id: { type: 'string', valueHint: 'N', description: 'Show this delivery with its attempts instead' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { name = null, organization = null, state = null, type = null } = args
    const query = { name, organization, state, type }
    if (args.follow && isJson())
      throw new Refusal(400, 'invalid_request', '--json prints one document; leave out --follow')
    await withInstance(args.config, async (send) => {
      if (args.id !== undefined) return printDelivery(send, parseId(args.id))
      const { rows, is_serving, holds } = await readLog(send, { ...query, limit: SHOWN })
      if (rows.length === 0) print('No deliveries.')
      else print(columns(rows.map(cellsOf)))
      for (const { endpoint_name, hold_until_at } of holds)
        printError(`The receiver of ${endpoint_name} asked to wait until ${instantText(hold_until_at)}.`)
      if (args.follow && is_serving) await followLog(send, query, rows)
      else if (args.follow) printError('No server runs, so nothing changes.')
    })
  },
})

function parseId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--id must be a number from the log, not ${text}`)
}

/** `holds`: the endpoints of what waits whose receivers asked to wait. `is_serving`: whether a server runs, which sends. */
type Log = { holds: { endpoint_name: string; hold_until_at: number }[]; is_serving: boolean }

/** Reads deliveries, oldest first. */
async function readLog(send: SendVerb, query: object): Promise<Log & { rows: Row[] }> {
  const { deliveries, ...log } = await send<Log & { deliveries: Row[] }>('webhooks.log.list', query)
  return { ...log, rows: deliveries.toReversed() }
}

/** The state, with what followed a delivery that was given up, and when one that waits is tried again. */
function stateText({ state, loss, is_test, next_at, endpoint_state }: Row): string {
  // A failing endpoint is tried at its own times.
  if (state === 'waiting' && next_at !== null && endpoint_state === 'active')
    return `waiting until ${instantText(next_at)}`
  if (state !== 'failed' || is_test) return state
  return FOLLOWED_BY[loss ?? 'none'] ?? state
}
const FOLLOWED_BY: Readonly<Record<string, string>> = {
  none: 'failed (replayed)',
  queued: 'failed (a replay waits)',
  dismissed: 'failed (dismissed)',
}

const cellsOf = (row: Row): (string | number)[] => [
  row.id,
  instantText(row.last_attempt?.at ?? row.created_at),
  row.endpoint_name,
  row.type,
  row.event_id,
  stateText(row),
  resultText(row),
]

/** Prints each delivery that is new or has changed, until a signal. */
async function followLog(send: SendVerb, query: object, printed: readonly Row[]): Promise<void> {
  const versionOf = ({ state, attempts }: Row): string => `${state} ${attempts}`
  let known = new Map(printed.map((row) => [row.id, versionOf(row)]))
  let isStopped = false
  const newest = printed.at(-1)?.id ?? 0
  void stopSignal().then(() => {
    isStopped = true
  })
  while (!isStopped) {
    await setTimeout(FOLLOW_MS)
    const { rows } = await readLog(send, { ...query, limit: FOLLOWED })
    const isChanged = (row: Row) =>
      (known.has(row.id) || row.id > newest) && known.get(row.id) !== versionOf(row)
    for (const row of rows.filter(isChanged)) print(cellsOf(row).join('  '))
    known = new Map([...known, ...rows.map((row): [number, string] => [row.id, versionOf(row)])])
  }
}

async function printDelivery(send: SendVerb, id: number): Promise<void> {
  const delivery = await send<Delivery>('webhooks.delivery.show', { id })
  const { endpoint_name, type, event_id, state, reason, attempt_log, request_headers = {}, body } = delivery
  print(`${id}  ${endpoint_name}  ${type}  ${event_id}  ${state}`)
  if (reason !== null) print(stripControls(reason))
  for (const attempt of attempt_log) {
    const { number, at, excerpt, clock_ms } = attempt
    print(`\n${number}  ${new Date(at).toISOString()}  ${resultText({ last_attempt: attempt })}`)
    if (clock_ms !== null && Math.abs(clock_ms) > 60_000)
      print(`The receiver’s clock differs by ${Math.round(clock_ms / 1_000)} s.`)
    if (excerpt !== null) print(stripControls(excerpt))
  }
  print('')
  for (const [name, value] of Object.entries(request_headers)) print(`${name}: ${value}`)
  print(body === null ? 'The body is not stored.' : `\n${body}`)
}
