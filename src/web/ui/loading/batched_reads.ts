/** Sends reads that begin together as one request. Each still gets its own answer or problem. */
import { addressOf, foreignAnswer, type Query, read, refusedAnswer } from '../http.ts'
import { BASE, type Entry, takeEarlyAnswer } from './remembered_reads.ts'

const PATH = `${BASE}batch`
/** The limits of the server and of proxies, whose lines have at most 8 kB. */
const MAX_READS = 25
const MAX_CHARACTERS = 6_000

type Pending = {
  /** Path and parameters below BASE. */
  address: string
  signal: AbortSignal | undefined
  resolve: (answer: never) => void
  reject: (error: unknown) => void
}

let pending: Pending[] = []

/**
 * As `read`. Reads of the same turn become one request, unless they were sent early. An aborted read is left out, or its
 * answer is ignored.
 */
export function readTogether<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  const address = addressOf(path, query)
  if (!isBatched(address)) return read(path, query, signal)
  const below = address.slice(BASE.length)
  const early = takeEarlyAnswer(below)
  if (early === null) return queue(below, signal)
  // What was refused early is read again, because the session may have begun since.
  return early.then((entry) =>
    entry?.status === 200 ? (entry.body as Answer) : queue<Answer>(below, signal),
  )
}

/** The session is loaded with the page, and other paths are not part of a batch. */
const isBatched = (address: string): boolean => address.startsWith(BASE) && address !== `${BASE}session`

function queue<Answer>(address: string, signal: AbortSignal | undefined): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', () => reject(signal.reason))
    if (pending.push({ address, signal, resolve, reject }) === 1) setTimeout(sendPending)
  })
}

/** The reads below BASE among these addresses that a batch takes, as many as fit. */
export function batchOf(addresses: readonly string[]): string[] {
  const all = addresses.filter(isBatched).map((address) => ({ address: address.slice(BASE.length) }))
  return (groupsOf(all)[0] ?? []).map(({ address }) => address)
}

function sendPending(): void {
  const all = pending.filter(({ signal }) => !signal?.aborted)
  pending = []
  for (const reads of groupsOf(all)) void sendGroup(reads)
}

/** Divides reads into groups within the limits of a request. */
function groupsOf<Read extends { address: string }>(all: readonly Read[]): Read[][] {
  const groups: Read[][] = []
  let characters = 0
  for (const one of all) {
    const length = encodeURIComponent(one.address).length + 1
    const group = groups.at(-1)
    characters += length
    if (group && group.length < MAX_READS && characters <= MAX_CHARACTERS) group.push(one)
    else {
      groups.push([one])
      characters = length
    }
  }
  return groups
}

async function sendGroup(reads: readonly Pending[]): Promise<void> {
  try {
    const signal = endOfAll(reads)
    const [first] = reads
    if (first && reads.length === 1) return settle(first, await read(BASE + first.address, {}, signal))
    const get = reads.map(({ address }) => address).join(' ')
    const { answers } = await read<{ answers?: Entry[] }>(PATH, { get }, signal)
    if (answers === undefined) throw foreignAnswer(200)
    reads.forEach((one, at) => {
      const { status, body, retry_after } = answers[at] ?? MISSING
      if (status === 200) settle(one, body)
      else one.reject(refusedAnswer(status, body, retry_after))
    })
  } catch (error) {
    for (const { reject } of reads) reject(error)
  }
}

/** The entry of a read that the answer does not have. */
const MISSING: Entry = { status: 502, retry_after: null, body: null }

const settle = ({ resolve }: Pending, answer: unknown): void => resolve(answer as never)

/** Aborts once all reads were aborted. */
function endOfAll(reads: readonly Pending[]): AbortSignal {
  const controller = new AbortController()
  let left = reads.length
  for (const { signal } of reads)
    signal?.addEventListener('abort', () => {
      left -= 1
      if (left === 0) controller.abort(signal.reason)
    })
  return controller.signal
}
