/** Web Push (RFC 8030, RFC 8291, RFC 8292): a browser, or the dashboard on the Home Screen of a phone. */
import { createHash, ECDH } from 'node:crypto'
import * as v from 'valibot'
import type { Answer } from '../../../outgoing/requests.ts'
import type { ChannelKind, ChannelMessage, SendContext, SendResult } from '../channel.ts'
import { reasonIn, retryAfter, sendRequest } from '../http_channel.ts'
import { payloadOf, topicOf } from './payload.ts'

const HOUR_S = 3_600
/** How long a push service keeps a message for a device that is off, in seconds. */
const TTL = { normal: 4 * HOUR_S, warning: 24 * HOUR_S, trouble: 24 * HOUR_S } as const
const MAX_ENDPOINT = 2_000

/** `endpoint_hash` identifies the device without what is needed to send to it. */
const Settings = v.strictObject({ host: v.string(), endpoint_hash: v.string() })
const base64url = (bytes: number) =>
  v.pipe(
    v.string(),
    v.maxLength(200),
    v.check((text) => Buffer.from(text, 'base64url').length === bytes, `must be ${bytes} bytes in base64url`),
  )
/** Encryption fails with a point that is not on the curve. */
function isPoint(text: string): boolean {
  try {
    const bytes = Buffer.from(text, 'base64url')
    return Buffer.from(ECDH.convertKey(bytes, 'prime256v1')).equals(bytes)
  } catch {
    return false
  }
}
const Secrets = v.strictObject({
  endpoint: v.pipe(
    v.string(),
    v.url(),
    v.startsWith('https://', 'must begin with https://'),
    v.maxLength(MAX_ENDPOINT),
  ),
  p256dh: v.pipe(base64url(65), v.check(isPoint, 'must be a point of P-256')),
  auth: base64url(16),
})

type Settings = v.InferOutput<typeof Settings>
type Secrets = v.InferOutput<typeof Secrets>

/** What `PushSubscription.toJSON` returns in a browser. */
export const Subscription = v.pipe(
  v.object({
    endpoint: Secrets.entries.endpoint,
    keys: v.object({ p256dh: Secrets.entries.p256dh, auth: Secrets.entries.auth }),
  }),
  v.description('What `PushSubscription.toJSON()` returns'),
)
export type Subscription = v.InferOutput<typeof Subscription>

/** Identifies the endpoint of a subscription. */
export const hashOf = (endpoint: string): string => createHash('sha256').update(endpoint).digest('base64url')

/** The settings and secrets of the channel of a subscription. */
export const fieldsOf = ({ endpoint, keys }: Subscription): { settings: Settings; secrets: Secrets } => ({
  settings: { host: new URL(endpoint).host, endpoint_hash: hashOf(endpoint) },
  secrets: { endpoint, ...keys },
})

export const WEB_PUSH = 'web_push'

export const webPush: ChannelKind<Settings, Secrets> = {
  kind: WEB_PUSH,
  settings: Settings,
  secrets: Secrets,
  limitsOf: () => [],
  accountOf: ({ endpoint_hash }) => endpoint_hash,
  addressOf: ({ host }) => host,
  async send(message, { settings, secrets }, context) {
    const result = await sendOnce(message, payloadOf(message), settings, secrets, context)
    return result === 'too_large'
      ? lastResult(await sendOnce(message, payloadOf(message, true), settings, secrets, context))
      : result
  },
}

type Attempt = SendResult | 'too_large'

const lastResult = (attempt: Attempt): SendResult =>
  attempt === 'too_large'
    ? { kind: 'refused', words: 'The push service says that the message is too large.' }
    : attempt

async function sendOnce(
  { tag, urgency }: ChannelMessage,
  payload: string,
  { host }: Settings,
  { endpoint, p256dh, auth }: Secrets,
  context: SendContext,
): Promise<Attempt> {
  const signing = context.vapid.signing()
  if ('refusal' in signing) return { kind: 'retry', words: signing.refusal, after_ms: null }
  const { buildPushPayload } = await import('@block65/webcrypto-web-push')
  const { headers, body } = await buildPushPayload(
    {
      data: payload,
      options: { ttl: TTL[urgency], topic: topicOf(tag), urgency: urgency === 'trouble' ? 'high' : 'normal' },
    },
    { endpoint, expirationTime: null, keys: { p256dh, auth } },
    signing,
  )
  const request = { url: endpoint, method: 'POST' as const, headers, body: Buffer.from(body) }
  let status: number | null = null
  const result = await sendRequest(request, context, {
    name: host,
    verdict(answer) {
      status = answer.status
      return verdictOf(answer, host)
    },
  })
  if (result.kind === 'sent') await context.vapid.note(host, null)
  if (result.kind === 'retry' && isPairRefused(status))
    await context.vapid.note(host, `${result.words} ${REMEDY}`)
  return status === 413 ? 'too_large' : result
}

const REMEDY = 'Open the dashboard on the device, and check contact under [alerts] in config.toml.'
/** 401 and 403: the push service does not accept the signature (RFC 8292 §2). */
const isPairRefused = (status: number | null): boolean => status === 401 || status === 403

function verdictOf(answer: Answer, host: string): SendResult | null {
  const { status } = answer
  const words = `${host} answered ${status}${reasonIn(answer)}`
  if (status === 404 || status === 410)
    return { kind: 'gone', words: 'The device no longer accepts messages, and was removed.' }
  return isPairRefused(status) ? { kind: 'retry', words, after_ms: retryAfter(answer) } : null
}
