/** ntfy (https://docs.ntfy.sh/publish/#publish-as-json): a topic of ntfy.sh or of the owner’s server. */
import * as v from 'valibot'
import type { ChannelKind } from './channel.ts'
import { httpAddress, jsonRequest, sendRequest, waitOf } from './http_channel.ts'
import { bytesOf, cut, oneLine } from './texts.ts'

const PUBLIC_SERVER = 'https://ntfy.sh'
const Settings = v.strictObject({
  server: v.optional(httpAddress(500), PUBLIC_SERVER),
  topic: v.pipe(v.string(), v.regex(/^[-_A-Za-z0-9]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')),
})
const Secrets = v.strictObject({ token: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(500))) })

const MAX_TITLE_BYTES = 250
/** A longer message becomes an attachment. */
const MAX_MESSAGE_BYTES = 4_000
/** ntfy’s *default* and *high*. Its 5 rings on and on. */
const [NORMAL, HIGH] = [3, 4]
const DAY_MS = 86_400_000
/** ntfy’s own default of each server is 60 requests, then one in five seconds. */
const BURST = { count: 50, per_ms: 5 * 60_000 }
/** ntfy’s own codes (its server/errors.go): the limits of a day, and what is too large. */
const DAILY_LIMIT = 42_908
const TOO_LARGE = 41_303
/** A button (https://docs.ntfy.sh/publish/#send-http-request). `clear` removes the notification when it was accepted. */
const MUTE = { action: 'http', label: 'Mute for an hour', method: 'POST', clear: true } as const

type Settings = v.InferOutput<typeof Settings>
type Secrets = v.InferOutput<typeof Secrets>

export const ntfy: ChannelKind<Settings, Secrets> = {
  kind: 'ntfy',
  settings: Settings,
  secrets: Secrets,
  // A server of the owner has no limit of a day, unless it says so.
  limitsOf: ({ server }) => [
    BURST,
    ...(new URL(server).host === new URL(PUBLIC_SERVER).host ? [{ count: 250, per_ms: DAY_MS }] : []),
  ],
  accountOf: ({ server }) => new URL(server).host,
  addressOf: ({ server, topic }) => `${new URL(server).host}/${topic}`,
  send({ title, body, url, urgency }, { settings, secrets }, context) {
    const message = {
      topic: settings.topic,
      title: cut(oneLine(title), MAX_TITLE_BYTES, bytesOf),
      message: cut(body === '' ? title : body, MAX_MESSAGE_BYTES, bytesOf),
      priority: urgency === 'trouble' ? HIGH : NORMAL,
      click: url,
      ...(context.mute_url !== null && { actions: [{ ...MUTE, url: context.mute_url }] }),
    }
    const token = secrets.token === undefined ? {} : { authorization: `Bearer ${secrets.token}` }
    return sendRequest(jsonRequest(settings.server, message, token), context, {
      name: 'ntfy',
      verdict(_, { code, error, link }) {
        if (typeof code !== 'number' || typeof error !== 'string') return null
        const words = `ntfy refuses the message: ${error}.${typeof link === 'string' ? ` See ${link}` : ''}`
        if (code === DAILY_LIMIT) return { kind: 'retry', words, after_ms: waitOf(3_600) }
        if (code >= 42_900 && code < 43_000) return { kind: 'retry', words, after_ms: waitOf(60) }
        if (code === TOO_LARGE) return { kind: 'refused', words }
        return code >= 40_100 && code < 40_400 ? { kind: 'dead', words } : null
      },
    })
  },
}
