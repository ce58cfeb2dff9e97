/** The command `windfall webhooks retry`: sends what waits for a later attempt now. */
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import { configArg, organizationArg, type SendVerb, withInstance } from '../instance/instance.ts'
import { print } from '../instance/output.ts'
import { type Delivery, type Endpoint, waitingText } from './texts.ts'

type RetriedEndpoint = { endpoint: Endpoint; is_serving: boolean }
type RetriedDelivery = {
  delivery: Delivery
  replay: { id: string } | null
  endpoint_state: string | null
  is_serving: boolean
}

export const retryCommand = defineCommand({
  meta: { name: 'retry', description: 'Send what waits for a later attempt now' },
  args: {
    name: {
      type: 'positional',
      required: false,
      description: 'Name or id of the endpoint, from `webhooks list`',
    },
    delivery: { type: 'string', valueHint: 'N', description: 'Only this delivery, from `webhooks log`' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { name, delivery, organization = null } = args
    if ((name === undefined) === (delivery === undefined))
      throw new Refusal(400, 'invalid_request', 'name an endpoint, or a delivery with --delivery')
    await withInstance(args.config, async (send) => {
      if (delivery === undefined) await retryEndpoint(send, { name, organization })
      else await retryDelivery(send, parseId(delivery))
    })
  },
})

function parseId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--delivery must be a number from the log, not ${text}`)
}

/** When what waits is tried. Only a server sends. */
const whenText = (is_serving: boolean): string =>
  is_serving ? 'now' : 'when a server is started (none runs)'

/** Prints what is sent, and when. */
async function retryEndpoint(send: SendVerb, request: object): Promise<void> {
  const { endpoint, is_serving } = await send<RetriedEndpoint>('webhooks.retry', request)
  const { name, state, health } = endpoint
  const when = whenText(is_serving)
  if (health.waiting === 0) print(`Nothing waits for ${name}.`)
  else if (state === 'failing')
    print(`${name} is failing. One event is tried ${when}. The others follow its success.`)
  else print(`${waitingText(endpoint)}. ${health.waiting === 1 ? 'It is' : 'They are'} sent ${when}.`)
}

async function retryDelivery(send: SendVerb, id: number): Promise<void> {
  const answer = await send<RetriedDelivery>('webhooks.delivery.retry', { id })
  const { delivery, replay, endpoint_state, is_serving } = answer
  const name = delivery.endpoint_name
  const when = whenText(is_serving)
  if (replay === null) print(`Delivery ${id} to ${name} is tried ${when}.`)
  else if (endpoint_state === 'active')
    print(`Replay ${replay.id} sends the event of delivery ${id} to ${name} again ${when}.`)
  else print(`${name} is failing. It is tried ${when}. Replay ${replay.id} follows its success.`)
}
