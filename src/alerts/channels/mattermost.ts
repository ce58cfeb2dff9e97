/**
 * Mattermost (https://developers.mattermost.com/integrate/webhooks/incoming/): an incoming webhook, also of Rocket.Chat and
 * other servers that accept the attachments of Slack's webhooks.
 */
import type { ChannelKind, ChannelMessage } from './channel.ts'
import { jsonRequest, sendRequest } from './http_channel.ts'
import { cut, oneLine } from './texts.ts'
import { NoSettings, ONE_A_SECOND, type WebhookSecrets, webhookSecrets } from './webhook.ts'

const Secrets = webhookSecrets(/^https?:\/\//, 'must begin with https:// or http://')

const MAX_TITLE = 250
/** With the escapes below Mattermost's limit of a post. */
const MAX_TEXT = 3_000
const MAX_FIELDS = 10
const MAX_FIELD = 300
const [GREEN, RED] = ['#2ea043', '#d1242f']

export const mattermost: ChannelKind<NoSettings, WebhookSecrets> = {
  kind: 'mattermost',
  settings: NoSettings,
  secrets: Secrets,
  limitsOf: () => [ONE_A_SECOND],
  accountOf: (_, { url }) => new URL(url).host,
  addressOf: () => 'an incoming webhook',
  send: (message, { secrets: { url } }, context) =>
    sendRequest(jsonRequest(url, bodyOf(message)), context, { name: new URL(url).host }),
}

const bodyOf = ({ title, body, url, urgency, fields }: ChannelMessage): object => ({
  username: 'Windfall',
  attachments: [
    {
      // What a notification shows.
      fallback: escaped(cut(oneLine(title), MAX_TITLE)),
      color: urgency === 'normal' ? GREEN : RED,
      title: escaped(cut(oneLine(title), MAX_TITLE)),
      title_link: url,
      text: escaped(cut(body, MAX_TEXT)),
      fields: fields
        .slice(0, MAX_FIELDS)
        .map(({ label, value }) => ({ title: label, value: escaped(cut(value, MAX_FIELD)), short: true })),
    },
  ],
})

/** Markdown, escaped with backslashes. No backslash keeps @channel from being a mention; a space without width does. */
const escaped = (text: string): string =>
  text.replace(/[\\*_~`|>[\]()#<!-]/g, (one) => `\\${one}`).replaceAll('@', '@\u200b')
