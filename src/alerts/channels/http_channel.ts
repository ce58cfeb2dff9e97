/** Sends the HTTP request of a channel, and turns the answer of the provider into a result. */
import * as v from 'valibot'
import type { Answer } from '../../outgoing/requests.ts'
import type { ChannelRequest, SendContext, SendResult } from './channel.ts'

const MAX_REASON = 300
/** The longest wait that a provider may ask for, in milliseconds. */
export const LONGEST_WAIT_MS = 24 * 3_600_000

/** The address of a server that the owner enters, of at most `length` characters. */
export const httpAddress = (length: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.maxLength(length),
    v.check(isHttpAddress, 'must be an address that begins with https:// or http://'),
  )

const isHttpAddress = (text: string): boolean =>
  /^https?:\/\//i.test(text) && ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')

/** What a provider says about an answer that is not 2xx; null to use the status alone. */
export type Verdict = (answer: Answer, json: Record<string, unknown>) => SendResult | null

/** Sends a request. `name` is the provider in messages; `verdict` knows its errors. */
export async function sendRequest(
  request: ChannelRequest,
  { dispatcher, signal }: SendContext,
  { name, verdict = () => null }: { name: string; verdict?: Verdict },
): Promise<SendResult> {
  const answer = await dispatcher.request({ ...request, signal })
  if ('words' in answer) return { kind: 'retry', words: answer.words, after_ms: null }
  const isAccepted = answer.status >= 200 && answer.status < 300
  return verdict(answer, jsonOf(answer.excerpt)) ?? (isAccepted ? SENT : statusResult(answer, name))
}

export const SENT: SendResult = { kind: 'sent' }

/** The request with a JSON body. */
export const jsonRequest = (
  url: string,
  body: object,
  headers: Record<string, string> = {},
): ChannelRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(body)),
})

/** What a status alone says: 429 and 5xx are tried again, 401, 403, 404 and 410 mean that the channel does not work. */
function statusResult(answer: Answer, name: string): SendResult {
  const { status } = answer
  const words = `${name} answered ${status}${reasonIn(answer)}`
  if (status === 429) return { kind: 'retry', words, after_ms: retryAfter(answer) }
  if (status >= 500 || status === 408) return { kind: 'retry', words, after_ms: null }
  return [401, 403, 404, 410].includes(status) ? { kind: 'dead', words } : { kind: 'refused', words }
}

/** The wait of the header Retry-After in seconds, in milliseconds; null without one. */
export function retryAfter({ headers }: Answer): number | null {
  const seconds = Number(headers['retry-after'])
  return Number.isFinite(seconds) && seconds > 0 ? waitOf(seconds) : null
}

/** A wait that a provider asks for, in milliseconds. */
export const waitOf = (seconds: number): number => Math.min(LONGEST_WAIT_MS, Math.ceil(seconds * 1_000))

/** The first text of an answer, as the end of a sentence. */
export function reasonIn({ excerpt }: Answer): string {
  const text = excerpt.replace(/\p{Cc}+/gu, ' ').trim()
  return text === '' ? '.' : `: ${text.slice(0, MAX_REASON)}`
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
