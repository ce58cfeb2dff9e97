/** Sends reads that begin together as one request. Each still gets its own answer or problem. */
import { addressOf, type Query, read, refusedAnswer } from '../http.ts'

const BASE = '/api/v1/'
const PATH = `${BASE}batch`
/** The limits of the server and of proxies, whose lines have at most 8 kB. */
const MAX_READS = 25
const MAX_CHARACTERS = 6_000

type Entry = { status: number; retry_after: number | null; body: unknown }
type Pending = {
  /** Path and parameters below BASE. */
  address: string
  signal: AbortSignal | undefined
  resolve: (answer: never) => void
  reject: (error: unknown) => void
}

let pending: Pending[] = []

/** As `read`. Reads of the same turn become one request. An aborted read is left out, or its answer is ignored. */
export function readTogether<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  const address = addressOf(path, query)
  // The session is loaded with the page, and other paths are not part of a batch.
  if (!address.startsWith(BASE) || address === `${BASE}session`) return read(path, query, signal)
  return new Promise<Answer>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason))
    if (pending.push({ address: address.slice(BASE.length), signal, resolve, reject }) === 1)
      setTimeout(sendPending)
  })
}

function sendPending(): void {
  const all = pending.filter(({ signal }) => !signal?.aborted)
  pending = []
  for (const reads of groupsOf(all)) void sendGroup(reads)
}

/** Divides reads into groups within the limits of a request. */
function groupsOf(all: readonly Pending[]): Pending[][] {
  const groups: Pending[][] = []
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
    const { answers } = await read<{ answers: Entry[] }>(PATH, { get }, signal)
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
