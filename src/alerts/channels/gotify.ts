/** Gotify (https://gotify.net/docs/pushmsg): an application of the owner's server. */
import * as v from 'valibot'
import type { ChannelKind } from './channel.ts'
import { httpAddress, jsonRequest, sendRequest } from './http_channel.ts'
import { cut, oneLine } from './texts.ts'

const Settings = v.strictObject({ server: httpAddress(500) })
const Secrets = v.strictObject({
  token: v.pipe(v.string(), v.trim(), v.regex(/^[\w.-]{1,100}$/, 'must be the token of an application')),
})

const MAX_TITLE = 250
const MAX_MESSAGE = 4_000
/** The app makes a sound from 4 on, and stands out from 8 on. */
const [NORMAL, HIGH] = [5, 8]

type Settings = v.InferOutput<typeof Settings>
type Secrets = v.InferOutput<typeof Secrets>

export const gotify: ChannelKind<Settings, Secrets> = {
  kind: 'gotify',
  settings: Settings,
  secrets: Secrets,
  limitsOf: () => [],
  accountOf: ({ server }) => server,
  addressOf: ({ server }) => new URL(server).host,
  send({ title, body, url, urgency }, { settings: { server }, secrets: { token } }, context) {
    const message = {
      title: cut(oneLine(title), MAX_TITLE),
      message: cut(body === '' ? title : body, MAX_MESSAGE),
      priority: urgency === 'trouble' ? HIGH : NORMAL,
      extras: {
        'client::display': { contentType: 'text/plain' },
        'client::notification': { click: { url } },
      },
    }
    // A server can be below a path of a host.
    const target = `${server.replace(/\/+$/, '')}/message`
    return sendRequest(jsonRequest(target, message, { 'x-gotify-key': token }), context, { name: 'Gotify' })
  },
}
