/** The command `windfall refused`: lists notifications whose verification failed, with the reason. */
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import type { RefusedPayload } from '../../ledger/refused.ts'
import { commandName } from '../../program/form.ts'
import { columns, configArg, instantText, sendVerb, stripControls } from '../instance/instance.ts'
import { print } from '../instance/output.ts'

type RefusedList = { count: number; kept: RefusedPayload[] }

const list = defineCommand({
  meta: { name: 'list', description: 'List the newest hundred notifications that did not verify' },
  args: {
    raw: { type: 'string', valueHint: 'N', description: 'Print the received text of notification N instead' },
    ...configArg,
  },
  async run({ args }) {
    if (args.raw !== undefined) return printRaw(args.config, parseNumber(args.raw))
    const { count, kept } = await sendVerb<RefusedList>(args.config, 'refused.list', {})
    if (kept.length === 0)
      print(`No notification was refused. To see refused SDK calls: ${commandName} doctor`)
    else print(columns([HEADER, ...kept.map(rowOf)]))
    if (count > kept.length) print(`${count} refused since the server started.`)
  },
})

const HEADER = ['number', 'when', 'from', 'reason', 'detail']
const rowOf = ({ id, received_at, address, reason, detail }: RefusedPayload) => [
  id,
  instantText(received_at),
  address,
  reason,
  stripControls(detail),
]

async function printRaw(config: string | undefined, id: number): Promise<void> {
  const { raw } = await sendVerb<{ raw: string }>(config, 'refused.raw', { id })
  print(process.stdout.isTTY ? stripControls(raw) : raw)
}

function parseNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--raw must be a number from the list, not ${text}`)
}

export const refusedCommand = defineCommand({
  meta: { name: 'refused', description: 'List refused notifications' },
  subCommands: { list },
})
