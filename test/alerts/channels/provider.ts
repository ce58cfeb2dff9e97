/** A server that speaks as the provider of a channel, and a message for it. */
import type { ChannelKind, ChannelMessage, SendResult } from '../../../src/alerts/channels/channel.ts'
import { openDispatcher } from '../../../src/outgoing/dispatcher.ts'
import { openHttpReceiver } from '../../forwarding/receiving.ts'

/** Only Web Push signs. */
const NO_VAPID = { signing: () => ({ refusal: '' }), note: async () => {} }
/** A message that a test changes. */
export const MESSAGE: ChannelMessage = {
  id: 'alm_1',
  tag: 'rule/1',
  title: '🎉 €49.99 · New subscriber',
  body: 'Chord Pro · Chord\n🇩🇪 Germany',
  url: 'https://windfall.example/customers/cus_1',
  urgency: 'normal',
  is_payment: false,
  at: Date.UTC(2026, 5, 1, 12),
  badge: 0,
  fields: [{ label: 'Product', value: 'Chord Pro' }],
}
/** A text that is markup, a mention or a header for one provider or another. */
export const HOSTILE = '<!channel> @everyone <b>&amp;*_`[x](y)\u0000\r\nBcc: a@b.example'

type Answer = { status?: number; body?: string; headers?: Record<string, string> }

/** Opens a server that speaks as a provider, and the function that sends to it. */
export async function openProvider() {
  const receiver = await openHttpReceiver()
  const dispatcher = openDispatcher({ allow: ['127.0.0.1'], ca: null })
  const base = new URL(receiver.url).origin
  const answerWith = ({ status = 200, body = '', headers = {} }: Answer) =>
    receiver.behave((_, response) => {
      response.writeHead(status, headers).end(body)
      return undefined
    })

  async function send<S extends object, X extends object>(
    kind: ChannelKind<S, X>,
    channel: { settings: S; secrets: X },
    message: Partial<ChannelMessage> = {},
  ) {
    const context = { dispatcher, signal: new AbortController().signal, vapid: NO_VAPID, mute_url: null }
    const result: SendResult = await kind.send({ ...MESSAGE, ...message }, channel, context)
    const last = receiver.requests.at(-1)
    return { result, path: last?.path, headers: last?.headers ?? {}, text: last?.body ?? '' }
  }

  return { base, send, answerWith }
}

/** What a result says; empty if it was sent. */
export const words = (result: SendResult): string => ('words' in result ? result.words : '')
