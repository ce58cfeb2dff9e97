/** Pushover (https://pushover.net/api). */
import * as v from 'valibot'
import type { ChannelKind } from './channel.ts'
import { httpAddress, sendRequest, waitOf } from './http_channel.ts'
import { bytesOf, charactersOf, cut, oneLine } from './texts.ts'

const key = v.pipe(v.string(), v.trim(), v.regex(/^[A-Za-z0-9]{30}$/, 'must be 30 letters and digits'))
const Settings = v.strictObject({
  server: v.optional(httpAddress(500), 'https://api.pushover.net'),
  device: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,25}$/, 'must be the name of a device'))),
})
const Secrets = v.strictObject({ token: key, user: key })

const MAX_TITLE = 250
const MAX_MESSAGE = 1_024
const MAX_URL_BYTES = 512
const MONTH_MS = 30 * 86_400_000

type Settings = v.InferOutput<typeof Settings>
type Secrets = v.InferOutput<typeof Secrets>

export const pushover: ChannelKind<Settings, Secrets> = {
  kind: 'pushover',
  settings: Settings,
  secrets: Secrets,
  limitsOf: () => [{ count: 10_000, per_ms: MONTH_MS }],
  accountOf: (_, { token }) => token.slice(0, 8),
  addressOf: ({ device }) => (device === undefined ? 'all devices' : device),
  send(
    { title, body, url, urgency, is_payment, at },
    { settings: { server, device }, secrets: { token, user } },
    context,
  ) {
    const fields = new URLSearchParams({
      token,
      user,
      title: cut(oneLine(title), MAX_TITLE, charactersOf),
      message: cut(body === '' ? title : body, MAX_MESSAGE, charactersOf),
      priority: urgency === 'trouble' ? '1' : '0',
      timestamp: String(Math.floor(at / 1_000)),
      ...(bytesOf(url) <= MAX_URL_BYTES && { url, url_title: 'Open in Windfall' }),
      ...(device !== undefined && { device }),
      ...(is_payment && { sound: 'cashregister' }),
    })
    const request = {
      url: new URL('/1/messages.json', server).href,
      method: 'POST' as const,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(fields.toString()),
    }
    return sendRequest(request, context, {
      name: 'Pushover',
      verdict({ status, headers }, { errors }) {
        if (!Array.isArray(errors)) return null
        const words = `Pushover refuses the message: ${errors.join('; ')}.`
        if (status === 429) {
          const reset = Number(headers['x-limit-app-reset'])
          // Both times are of Pushover’s clock.
          const now = Date.parse(String(headers.date)) / 1_000
          const wait = Number.isFinite(reset - now) ? Math.max(60, reset - now) : 3_600
          return { kind: 'retry', words, after_ms: waitOf(wait) }
        }
        const isKey = errors.some((error) => /token|user/.test(String(error)))
        return isKey
          ? { kind: 'dead', words: `${words} Check the token and the user key.` }
          : { kind: 'refused', words }
      },
    })
  },
}
