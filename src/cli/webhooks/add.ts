/** The command `windfall webhooks add`. */
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import { configArg, organizationArg, type SendVerb, withInstance } from '../instance/instance.ts'
import { print, printError, setResult } from '../instance/output.ts'
import { type Created, type Delivery, listOf, resultText } from './texts.ts'

/** The type of the test event, unless the endpoint receives only others. */
const TEST_TYPE = 'subscription.renewed'
const MAX_PER_SECOND = 1_000

export const addCommand = defineCommand({
  meta: {
    name: 'add',
    description: 'Add an endpoint, print its secret once, and say whether its URL answers',
  },
  args: {
    url: { type: 'positional', required: true, description: 'Where events are sent' },
    name: { type: 'string', valueHint: 'NAME', description: 'Its name; by default the host of the URL' },
    types: { type: 'string', valueHint: 'TYPES', description: 'Only these event types (comma-separated)' },
    apps: {
      type: 'string',
      valueHint: 'BUNDLES',
      description: 'Only these apps (comma-separated bundle ids)',
    },
    environment: { type: 'string', valueHint: 'ENV', description: 'Only production, or only sandbox' },
    ordered: {
      type: 'boolean',
      default: false,
      description: 'Send the events of one subscription one after another',
    },
    'max-per-second': {
      type: 'string',
      valueHint: 'N',
      description: 'At most N requests in a second, 1 to 1000; without it, no limit',
    },
    header: {
      type: 'string',
      valueHint: "'NAME: VALUE'",
      description: 'A header of each request; can be repeated',
    },
    apple: {
      type: 'boolean',
      default: false,
      description: "Send Apple's notifications as they came, instead of events",
    },
    test: {
      type: 'boolean',
      default: true,
      description: 'Send a test event',
      negativeDescription: 'Send no test event',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args, rawArgs }) {
    const { url, name, environment, ordered, apple } = args
    const max_per_second = paceOf(args['max-per-second'])
    const [types, apps] = [listOf(args.types), listOf(args.apps)]
    const request = {
      url,
      kind: apple ? 'apple' : 'events',
      organization: args.organization ?? null,
      ordered,
      headers: headersIn(rawArgs),
      ...(name !== undefined && { name }),
      ...(environment !== undefined && { environment }),
      ...(max_per_second !== null && { max_per_second }),
      ...(types && { types }),
      ...(apps && { apps }),
    }
    await withInstance(args.config, async (send) => {
      const created = await send<Created>('webhooks.add', request)
      const { endpoint, secret } = created
      print(`${endpoint.id}  ${endpoint.name}  ${secret}`)
      printError('This secret signs each request. It is shown only once.')
      const test = args.test && !apple ? await tryUrl(send, created) : null
      setResult({ ...created, test })
    })
  },
})

/** @throws Refusal 400 `invalid_request` */
function paceOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_PER_SECOND) return Number(text)
  const words = `--max-per-second must be a whole number from 1 to ${MAX_PER_SECOND}, not ${text}`
  throw new Refusal(400, 'invalid_request', words)
}

/**
 * Sends a test event and prints whether the URL answers. The endpoint stays, whatever it answers. Returns the delivery;
 * null if none could be made.
 */
async function tryUrl(send: SendVerb, { endpoint: { id, types } }: Created): Promise<Delivery | null> {
  const type = types?.[0] ?? TEST_TYPE
  try {
    const delivery = await send<Delivery>('webhooks.test', { name: id, type })
    const isDelivered = delivery.state === 'delivered'
    printError(
      `${isDelivered ? 'The URL answers' : 'The URL does not accept events yet'}: ${resultText(delivery)}`,
    )
    if (!isDelivered) printError(`Repair it, then run windfall webhooks test ${id}`)
    return delivery
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    printError(`No test event was sent: ${error.message}`)
    return null
  }
}

/**
 * The headers of all `--header`, of which the parser keeps only the last. The refusal does not repeat a value, which can be
 * a credential.
 *
 * @throws Refusal 400 `invalid_request`
 */
function headersIn(rawArgs: readonly string[]): Record<string, string> {
  const texts = rawArgs.flatMap((arg, index) => {
    if (arg === '--header') return [rawArgs[index + 1] ?? '']
    return arg.startsWith('--header=') ? [arg.slice('--header='.length)] : []
  })
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(text) ?? []
      if (name !== undefined && value !== undefined) return [name, value.trim()]
      throw new Refusal(400, 'invalid_request', "--header must be 'Name: value'")
    }),
  )
}
