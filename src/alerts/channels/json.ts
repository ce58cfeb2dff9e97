/** The generic channel: posts each message as JSON to an address of the owner. */
import * as v from 'valibot'
import type { ChannelKind } from './channel.ts'
import { httpAddress, jsonRequest, sendRequest } from './http_channel.ts'
import { filled, hasToken, templateProblem } from './json_template.ts'

const template = v.pipe(
  v.string(),
  v.maxLength(4_000),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? templateProblem(dataset.value) : null
    if (message !== null) addIssue({ message })
  }),
)
const Settings = v.strictObject({ url: httpAddress(2_000), template: v.exactOptional(template) })
const Secrets = v.strictObject({ token: v.optional(v.pipe(v.string(), v.maxLength(1_000))) })

/**
 * `POST url` with the fields of the message, or with the body of a template; `Authorization: Bearer token` if there is a
 * token and the template does not have it. Any 2xx is accepted.
 */
export const json: ChannelKind<v.InferOutput<typeof Settings>, v.InferOutput<typeof Secrets>> = {
  kind: 'json',
  settings: Settings,
  secrets: Secrets,
  conflictOf: ({ template: own = '' }, { token = '' }) =>
    hasToken(own) && token === ''
      ? { path: 'secrets.token', message: 'is required, because the template has {{token}}' }
      : null,
  limitsOf: () => [],
  accountOf: ({ url }) => url,
  addressOf: ({ url }) => url,
  send(message, { settings: { url, template: own }, secrets: { token } }, context) {
    const isInBody = own !== undefined && hasToken(own)
    const headers = token === undefined || isInBody ? {} : { authorization: `Bearer ${token}` }
    const body = own === undefined ? message : filled(own, message, token)
    return sendRequest(jsonRequest(url, body, headers), context, { name: new URL(url).host })
  },
}
