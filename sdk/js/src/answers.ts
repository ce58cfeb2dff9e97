/** Judges answers: by their `code`, not by their status. */
import { retryAfterMs } from './backoff.ts'
import type { Answer } from './environment.ts'
import type { Item } from './items.ts'

export type Verdict =
  | { is: 'accepted' }
  /** Will never be accepted. `paths` are the faulty fields. */
  | { is: 'gone'; code: string; paths: string[] }
  /** The signed transaction is refused, not the purchase. */
  | { is: 'unproved' }
  /** Not before so many ms. */
  | { is: 'limited'; ms: number }
  /** May be accepted after something changed: back off to a day, give up after 30 days. */
  | { is: 'kept'; code: string }
  /** No answer, or a fault of the server's: back off to a quarter of an hour. */
  | { is: 'later' }

type Body = {
  code?: unknown
  errors?: { path?: unknown }[]
  appUserId?: unknown
  bundleId?: unknown
  originalTransactionId?: unknown
}

/** The fields of a JSON object; empty for anything else, such as the page of a captive portal. */
function bodyOf(text: string): Body {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

const isOurs = (body: Body, { t, u, b, o }: Item): boolean =>
  body.appUserId === u && (t === 'i' ? body.bundleId === b : body.originalTransactionId === o)

/** @param answer null if there was none */
export function judge(item: Item, answer: Answer | null): Verdict {
  if (!answer) return { is: 'later' }
  const { status, text, retryAfter } = answer
  const body = bodyOf(text)
  if (status >= 200 && status < 300 && isOurs(body, item)) return { is: 'accepted' }
  if (status === 429 || status === 408 || status >= 500 || status === 0) {
    const ms = retryAfterMs(retryAfter)
    return ms === null ? { is: 'later' } : { is: 'limited', ms }
  }
  const { code } = body
  if (typeof code !== 'string') return { is: 'kept', code: 'not_windfall' }
  if (code === 'invalid_signed_transaction' && item.j) return { is: 'unproved' }
  const isGone = code === 'invalid_request' || status === 410 || status === 413 || status === 422
  if (!isGone) return { is: 'kept', code }
  const paths = Array.isArray(body.errors) ? body.errors.map((one) => String(one?.path)) : []
  return { is: 'gone', code, paths }
}
