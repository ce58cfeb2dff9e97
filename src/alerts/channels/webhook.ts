/** What the channels have in common that post to one secret URL: a webhook of a chat. */
import * as v from 'valibot'
import type { RateLimit } from './channel.ts'

/** Settings without fields: all that a webhook needs is its URL. */
export const NoSettings = v.strictObject({})
export type NoSettings = v.InferOutput<typeof NoSettings>

/** Secrets with a URL. `problem` says what the URL must be if `pattern` does not match it. */
export const webhookSecrets = (pattern: RegExp, problem: string) =>
  v.strictObject({
    url: v.pipe(v.string(), v.trim(), v.url(), v.maxLength(2_000), v.regex(pattern, problem)),
  })
export type WebhookSecrets = v.InferOutput<ReturnType<typeof webhookSecrets>>

export const ONE_A_SECOND: RateLimit = { count: 1, per_ms: 1_000 }
