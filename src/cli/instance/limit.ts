/** The option `--limit` of commands that list rows. */
import { Refusal } from '../../errors.ts'

export const limitArg = {
  limit: { type: 'string', default: '50', valueHint: 'N', description: 'At most this many' },
} as const

/** The value of `--limit`, 1 to 1000. @throws Refusal 400 `invalid_request` */
export function parseLimit(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN
  if (limit <= 1_000) return limit
  const message = `--limit must be a number from 1 to 1000, not ${text.slice(0, 20)}`
  throw new Refusal(400, 'invalid_request', message)
}
