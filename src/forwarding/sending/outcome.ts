/** What the result of a request means for its delivery and its endpoint. */

import type { Failure } from '../../outgoing/failures.ts'
import type { Answer } from '../../outgoing/requests.ts'
import type { EndpointKind } from '../endpoints/endpoints.ts'
import { clockAheadMs, retryAfterMs } from './schedule.ts'

/**
 * - `success`: the receiver has the event.
 * - `endpoint`: the receiver is down, overloaded or moved; five in a row make the endpoint failing.
 * - `delivery`: the receiver refuses this event.
 * - `gone`: the receiver says that the endpoint no longer exists (410).
 */
type Verdict = 'success' | 'endpoint' | 'delivery' | 'gone'

/**
 * The result of an attempt. `kind`: delivered, rejected, aborted by the receiver, or the kind of the failure. `words` are
 * whole sentences.
 * `retry_after_ms`: how long the receiver asks to wait. `clock_ms`: how far its clock is ahead.
 */
export type Outcome = {
  verdict: Verdict
  kind: string
  words: string
  status: number | null
  ms: number | null
  address: string | null
  excerpt: string | null
  clock_ms: number | null
  retry_after_ms: number | null
}

/** The kind of an attempt whose receiver asks not to send the event again. */
export const ABORTED = 'aborted'

/** Advice by status, for statuses whose cause is usually the same. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'It refuses this event: look at the response.',
  401: 'Check the signing secret, and that the receiver verifies the raw body.',
  403: 'Check the signing secret, and a firewall before the receiver.',
  404: 'Check the path of the URL.',
  405: 'The path does not accept POST.',
  410: 'A second 410 at least a minute later disables the endpoint.',
  413: 'The receiver refuses bodies of this size.',
  429: 'The receiver limits its rate.',
}

function adviceOf(status: number): string {
  if (status >= 300 && status < 400) return 'Redirects are not followed: enter the final URL.'
  if (status >= 500) return 'The receiver failed: look at its log.'
  return ADVICE[status] ?? ''
}

/** Whether Apple’s own rule for notifications accepts the status: 200 to 206. */
const isAcceptedByApple = (status: number): boolean => status >= 200 && status <= 206

function verdictOf(status: number, kind: EndpointKind): Verdict {
  if (kind === 'apple' ? isAcceptedByApple(status) : status >= 200 && status < 300) return 'success'
  if (status === 410) return 'gone'
  if (status === 429 || status >= 500 || (status >= 300 && status < 400)) return 'endpoint'
  return 'delivery'
}

/** Whether a receiver asks not to send a message again, by the header that Svix defined. */
const asksToAbort = (header: string | undefined): boolean =>
  (header ?? '').split(',').some((word) => word.trim().toLowerCase() === 'abort-message')

/** The meaning of a status. A receiver that aborts one delivery answers, so it is neither down nor overloaded. */
function meaningOf(status: number, kind: EndpointKind, isAborting: boolean) {
  const verdict = verdictOf(status, kind)
  const answered = `The receiver answered ${status}`
  if (verdict === 'success') return { verdict, kind: 'delivered', words: `${answered}.` }
  if (!isAborting) return { verdict, kind: 'rejected', words: `${answered}. ${adviceOf(status)}`.trim() }
  const words = `${answered} and aborted this delivery.`
  return { verdict: verdict === 'endpoint' ? ('delivery' as const) : verdict, kind: ABORTED, words }
}

/** The outcome of a request to an endpoint of `kind`, which ended at `now` (ms). */
export function outcomeOf(result: Answer | Failure, kind: EndpointKind, now: number): Outcome {
  if ('kind' in result) {
    const { words } = result
    const nothing = { status: null, ms: null, address: null, excerpt: null, clock_ms: null }
    return { verdict: 'endpoint', kind: result.kind, words, ...nothing, retry_after_ms: null }
  }
  const { status, headers, excerpt, address } = result
  const meaning = meaningOf(status, kind, asksToAbort(textOf(headers['webhook-delivery'])))
  return {
    ...meaning,
    status,
    ms: Math.round(result.ms),
    address,
    excerpt: excerpt === '' ? null : excerpt,
    clock_ms: clockAheadMs(textOf(headers.date), now),
    retry_after_ms: meaning.verdict === 'success' ? null : retryAfterMs(textOf(headers['retry-after']), now),
  }
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header
