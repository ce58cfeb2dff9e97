/** The generic channel: posts each message as JSON to an address of the owner. */
import * as v from 'valibot'
import type { ChannelKind } from './channel.ts'
import { jsonRequest, sendRequest } from './http_channel.ts'

const Settings = v.strictObject({ url: v.pipe(v.string(), v.url(), v.maxLength(2_000)) })
const Secrets = v.strictObject({ token: v.optional(v.pipe(v.string(), v.maxLength(1_000))) })

/** `POST url` with the fields of the message; `Authorization: Bearer token` if there is a token. Any 2xx is accepted. */
export const json: ChannelKind<v.InferOutput<typeof Settings>, v.InferOutput<typeof Secrets>> = {
  kind: 'json',
  settings: Settings,
  secrets: Secrets,
  limitsOf: () => [],
  accountOf: ({ url }) => url,
  addressOf: ({ url }) => url,
  send(message, { settings: { url }, secrets: { token } }, context) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return sendRequest(jsonRequest(url, message, headers), context, { name: new URL(url).host })
  },
}
