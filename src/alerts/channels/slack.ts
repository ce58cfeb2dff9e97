/** Slack (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): an incoming webhook. */
import type { ChannelKind, ChannelMessage } from './channel.ts'
import { jsonRequest, reasonIn, sendRequest } from './http_channel.ts'
import { cut, oneLine } from './texts.ts'
import { NoSettings, ONE_A_SECOND, type WebhookSecrets, webhookSecrets } from './webhook.ts'

const Secrets = webhookSecrets(/^https:\/\/hooks\.slack\.com\//, 'must begin with https://hooks.slack.com/')

const MAX_SECTION = 3_000
const MAX_HEADER = 150
const MAX_FIELDS = 10
const MAX_FIELD = 2_000

/** What Slack answers, as plain text, when the webhook does not exist any more. */
const GONE =
  /no_service|no_team|channel_not_found|channel_is_archived|action_prohibited|invalid_token|team_disabled/
const INVALID = /invalid_payload|invalid_blocks|no_text|msg_blocks_too_long/

/** The channel, which sends to `base` instead of Slack if it is given. */
export const slackAt = (base: string | null): ChannelKind<NoSettings, WebhookSecrets> => ({
  kind: 'slack',
  settings: NoSettings,
  secrets: Secrets,
  limitsOf: () => [ONE_A_SECOND],
  accountOf: (_, { url }) => new URL(url).pathname.split('/').slice(0, 3).join('/'),
  addressOf: () => 'hooks.slack.com',
  send(message, { secrets: { url } }, context) {
    const target = base === null ? url : new URL(new URL(url).pathname, base).href
    return sendRequest(jsonRequest(target, bodyOf(message)), context, {
      name: 'Slack',
      verdict(answer) {
        const words = `Slack answered ${answer.status}${reasonIn(answer)}`
        if (GONE.test(answer.excerpt))
          return { kind: 'dead', words: `${words}. Create another incoming webhook, and enter its URL.` }
        return INVALID.test(answer.excerpt) ? { kind: 'refused', words } : null
      },
    })
  },
})

/** Without `verbatim`, Slack makes links and mentions of words such as @channel. */
const MARKDOWN = { type: 'mrkdwn', verbatim: true } as const

/** `text` is what a lock screen shows. */
function bodyOf({ title, body, url, fields }: ChannelMessage): object {
  const shown = fields
    .slice(0, MAX_FIELDS)
    .map(({ label, value }) => ({
      ...MARKDOWN,
      text: `*${escaped(label)}*\n${cut(escaped(value), MAX_FIELD)}`,
    }))
  return {
    text: cut(escaped(`${title} — ${oneLine(body)}`), MAX_SECTION),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(oneLine(title), MAX_HEADER), emoji: true } },
      ...(body === ''
        ? []
        : [{ type: 'section', text: { ...MARKDOWN, text: cut(escaped(body), MAX_SECTION) } }]),
      ...(shown.length === 0 ? [] : [{ type: 'section', fields: shown }]),
      { type: 'context', elements: [{ ...MARKDOWN, text: `<${escaped(url)}|Open in Windfall>` }] },
    ],
  }
}

/** Slack’s three entities. Without < no text can mention a channel. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
