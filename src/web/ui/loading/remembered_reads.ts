/**
 * Remembers what a view reads first, so that the next load of its address sends that in one request before the code has
 * started. The answers are used only while the page loads. On another day their ranges may have moved; then no view takes
 * them.
 */
import { currentTime } from '../now.ts'

/** An answer within a batch. */
export type Entry = { status: number; retry_after: number | null; body: unknown }
/** `reads` are below /api/v1, as the server's batch takes them. */
export type EarlyReads = { reads: string[]; answers: Promise<Entry[]> }
/** The reads by the address of the view. */
export type Memory = Partial<Record<string, string[]>>

declare global {
  var earlyReads: EarlyReads | undefined
}

const STORAGE_KEY = 'reads'
/** Reads are below this path. */
export const BASE = '/api/v1/'
/** Addresses that are remembered, the newest last. */
const MAX_ADDRESSES = 20
/** Later reads get answers of their own. */
const MAX_AGE_MS = 10_000

const loadedAt = currentTime()
const isFresh = (): boolean => currentTime() - loadedAt <= MAX_AGE_MS
const { reads: sent, answers } = globalThis.earlyReads ?? { reads: [], answers: Promise.resolve([]) }
const untaken = new Set(sent)
/** The answers, once they are there. */
let arrived: readonly Entry[] = []
/** Resolves when the answers to what was sent early are there. */
export const earlyAnswersThere = answers.then((entries) => {
  arrived = entries
})

/** The start of the address of the feed’s newest page. */
export const FEED = '/api/v1/events?'
let feed_read: string | null = null

/** Notes the first read of the feed that the view shows, or that it shows none: the cache of queries does not know it. */
export const noteFeedRead = (address: string | null): void => {
  feed_read = address
}

/** What the feed reads first: one address, or none if the view has no feed. */
export const feedRead = (): string[] => (feed_read === null ? [] : [feed_read])

/** The reads that were sent early. */
export const readsSentEarly = (): readonly string[] => sent

/** The answer to a read that was sent early; null if there is none, or if it was taken or is old. */
export function takeEarlyAnswer(read: string): Promise<Entry | undefined> | null {
  if (!untaken.delete(read) || !isFresh()) return null
  return answers.then((entries) => entries[sent.indexOf(read)])
}

/** As `takeEarlyAnswer`, of an answer that is there: null if it is not, or if it is no success, and then it is not taken. */
export function takeArrivedAnswer<Answer>(address: string): Answer | null {
  const read = address.slice(BASE.length)
  const entry = arrived[sent.indexOf(read)]
  if (entry?.status !== 200 || !isFresh() || !untaken.delete(read)) return null
  return entry.body as Answer
}

/** Remembers the reads of a view's address. Without any there is nothing to send. */
export function rememberReads(address: string, reads: readonly string[]): void {
  if (reads.length === 0) return
  const { [address]: _, ...others }: Memory = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}')
  const entries = [...Object.entries(others), [address, reads]].slice(-MAX_ADDRESSES)
  localStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(entries)))
}

/** Forgets all reads, when the session has ended. */
export const forgetReads = (): void => localStorage.removeItem(STORAGE_KEY)
