/** Discord (https://docs.discord.com/developers/resources/webhook#execute-webhook): a webhook of a channel. */
import type { Answer } from '../../outgoing/requests.ts'
import type { ChannelKind, ChannelMessage, SendResult } from './channel.ts'
import { jsonRequest, reasonIn, SENT, sendRequest, waitOf } from './http_channel.ts'
import { cut } from './texts.ts'
import { NoSettings, type WebhookSecrets, webhookSecrets } from './webhook.ts'

const Secrets = webhookSecrets(
  /^https:\/\/(?:ptb\.|canary\.)?discord(?:app)?\.com\/api\/webhooks\/\d+\/[\w-]+$/,
  'must be a webhook URL such as https://discord.com/api/webhooks/123/abc',
)

const MAX_TITLE = 256
const MAX_DESCRIPTION = 3_000
const MAX_FIELDS = 10
const MAX_FIELD_NAME = 100
const MAX_FIELD_VALUE = 150
const [GREEN, RED] = [0x2e_a0_43, 0xd1_24_2f]
/** Discord’s code of a webhook that was deleted. */
const UNKNOWN_WEBHOOK = 10_015
const INVALID_TOKEN = 50_027

/** The channel, which sends to `base` instead of Discord if it is given. */
export const discordAt = (base: string | null): ChannelKind<NoSettings, WebhookSecrets> => ({
  kind: 'discord',
  settings: NoSettings,
  secrets: Secrets,
  limitsOf: () => [{ count: 5, per_ms: 2_000 }],
  accountOf: (_, { url }) => new URL(url).pathname.split('/')[3] ?? '',
  addressOf: () => 'discord.com',
  send(message, { secrets: { url } }, context) {
    const { pathname, origin } = new URL(url)
    const target = new URL(`${pathname}?wait=true`, base ?? origin).href
    return sendRequest(jsonRequest(target, bodyOf(message)), context, { name: 'Discord', verdict: verdictOf })
  },
})

/** At most 6,000 characters in all. No text can mention a person or a role. */
const bodyOf = ({ title, body, url, urgency, fields, at }: ChannelMessage): object => ({
  username: 'Windfall',
  allowed_mentions: { parse: [] },
  embeds: [
    {
      title: cut(escaped(title), MAX_TITLE),
      description: cut(escaped(body), MAX_DESCRIPTION),
      url,
      color: urgency === 'normal' ? GREEN : RED,
      timestamp: new Date(at).toISOString(),
      fields: fields
        .slice(0, MAX_FIELDS)
        .map(({ label, value }) => ({
          name: cut(escaped(label), MAX_FIELD_NAME),
          value: cut(escaped(value), MAX_FIELD_VALUE),
          inline: true,
        })),
    },
  ],
})

/** Discord’s Markdown, escaped with backslashes. */
const escaped = (text: string): string => text.replace(/[\\*_~`|>[\]()#<@-]/g, (one) => `\\${one}`)

/** The last message that its limit permits says when the next one is permitted. */
function sentResult({ headers }: Answer): SendResult {
  const seconds = Number(headers['x-ratelimit-reset-after'])
  const isLast = headers['x-ratelimit-remaining'] === '0' && seconds > 0
  return isLast ? { kind: 'sent', wait_ms: waitOf(seconds) } : SENT
}

function verdictOf(
  answer: Answer,
  { code, message, retry_after }: Record<string, unknown>,
): SendResult | null {
  if (answer.status < 300) return sentResult(answer)
  const words = `Discord answered ${answer.status}${typeof message === 'string' ? `: ${message}` : reasonIn(answer)}`
  if (answer.status === 429) {
    const seconds = Number(
      retry_after ?? answer.headers['x-ratelimit-reset-after'] ?? answer.headers['retry-after'],
    )
    return { kind: 'retry', words, after_ms: waitOf(Number.isFinite(seconds) && seconds > 0 ? seconds : 5) }
  }
  if (code === UNKNOWN_WEBHOOK || code === INVALID_TOKEN)
    return {
      kind: 'dead',
      words: `${words}. Create another webhook in the settings of the channel, and enter its URL.`,
    }
  return null
}
