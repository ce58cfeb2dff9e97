/** The languages of the verification code, and what its writers share. */
import type { Endpoint } from '../webhook_queries.ts'

export const LANGUAGES = ['Node', 'Python', 'Go', 'Swift', 'PHP'] as const
export type Language = (typeof LANGUAGES)[number]
/** `library`: with the package standardwebhooks. `plain`: with the standard library of the language. */
export type Variant = 'library' | 'plain'

/** The environment variable of the receiver that has the secret. */
export const SECRET_VARIABLE = 'WINDFALL_WEBHOOK_SECRET'

/** The prefix of the signed headers: those of Standard Webhooks, or our own beside Apple's notifications. */
export const headerPrefix = (kind: Endpoint['kind']): string => (kind === 'apple' ? 'windfall' : 'webhook')

/** The names that the packages expect, each with the name that is sent. */
export const renamedHeaders = (kind: Endpoint['kind']): [expected: string, sent: string][] =>
  ['id', 'timestamp', 'signature'].map((part) => [`webhook-${part}`, `${headerPrefix(kind)}-${part}`])
