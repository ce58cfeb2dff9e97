/** Telegram (https://core.telegram.org/bots/api#sendmessage): a chat with the owner’s bot. */
import * as v from 'valibot'
import type { ChannelKind, ChannelMessage, SendResult } from './channel.ts'
import { httpAddress, jsonRequest, sendRequest, waitOf } from './http_channel.ts'
import { charactersOf, cut } from './texts.ts'

const Settings = v.strictObject({
  server: v.optional(httpAddress(500), 'https://api.telegram.org'),
  chat_id: v.pipe(
    v.string(),
    v.regex(/^(-?\d{1,20}|@\w{5,32})$/, 'must be a number, or @ and the name of a channel'),
  ),
})
const Secrets = v.strictObject({
  token: v.pipe(v.string(), v.trim(), v.regex(/^\d+:[\w-]{20,}$/, 'must be a bot token such as 123456:ABC…')),
})

/** After entities are parsed. */
const MAX_CHARACTERS = 4_096
const MAX_TITLE = 256

const PER_CHAT = { count: 1, per_ms: 1_000 }
const PER_GROUP = { count: 20, per_ms: 60_000 }
/** Groups and channels have negative ids, or a name. */
const isGroup = (chat_id: string): boolean => /^[-@]/.test(chat_id)

type Settings = v.InferOutput<typeof Settings>
type Secrets = v.InferOutput<typeof Secrets>

export const telegram: ChannelKind<Settings, Secrets> = {
  kind: 'telegram',
  settings: Settings,
  secrets: Secrets,
  limitsOf: ({ chat_id }) => [PER_CHAT, ...(isGroup(chat_id) ? [PER_GROUP] : [])],
  accountOf: ({ chat_id }) => chat_id,
  addressOf: ({ chat_id }) => `chat ${chat_id}`,
  send(message, { settings: { server, chat_id }, secrets: { token } }, context) {
    const body = {
      chat_id,
      text: textOf(message),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
      disable_notification: false,
    }
    return sendRequest(jsonRequest(new URL(`/bot${token}/sendMessage`, server).href, body), context, {
      name: 'Telegram',
      verdict: (_, json) => verdictOf(json),
    })
  },
}

/** The title in bold, the body, and a link to the page. */
function textOf({ title, body, url }: ChannelMessage): string {
  const [head, link] = [cut(title, MAX_TITLE, charactersOf), 'Open']
  const rest = MAX_CHARACTERS - charactersOf(head) - link.length - 2
  return `<b>${escaped(head)}</b>\n${escaped(cut(body, rest, charactersOf))}\n<a href="${escaped(url)}">${link}</a>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one)

function verdictOf({ ok, error_code, description, parameters }: Record<string, unknown>): SendResult | null {
  if (ok !== false || typeof description !== 'string') return null
  const { retry_after, migrate_to_chat_id } = (parameters ?? {}) as {
    retry_after?: number
    migrate_to_chat_id?: number
  }
  const words = `Telegram answered: ${description}.`
  if (error_code === 429) return { kind: 'retry', words, after_ms: waitOf(retry_after ?? 60) }
  if (migrate_to_chat_id !== undefined)
    return { kind: 'dead', words: `${words} The group has the chat id ${migrate_to_chat_id} now: change it.` }
  if (error_code === 401) return { kind: 'dead', words: `${words} Check the token with @BotFather.` }
  if (error_code === 403)
    return { kind: 'dead', words: `${words} Unblock the bot, or add it to the group again.` }
  if (/chat not found/i.test(description))
    return { kind: 'dead', words: `${words} Write a message to the bot first, and check the chat id.` }
  return typeof error_code === 'number' && error_code < 500 ? { kind: 'refused', words } : null
}
