/** What the SDK takes from the runtime. Tests pass their own. */
import type { Storage } from './types.ts'

export type Device = { platform?: string; osVersion?: string; deviceModel?: string; locale?: string }

export type Answer = { status: number; text: string; retryAfter: string | null }
export type Request = { url: string; headers: Record<string, string>; body: string }

export type Environment = {
  now(): number
  random(): number
  /** Calls `run` later; returns a function that cancels. */
  after(ms: number, run: () => void): () => void
  /** Posts. Rejects without an answer, also after a timeout. */
  post(request: Request): Promise<Answer>
  storage: Storage
  isMemory: boolean
  /** Runs `work` while no other tab runs work under that name. Null where the runtime has no locks. */
  lock: (<T>(name: string, work: () => Promise<T>) => Promise<T>) | null
}

/** Shorter than the lease of the sender. */
const TIMEOUT_MS = 9000

/** A storage that refuses all: what a storage refuses stays in memory. */
const NO_STORAGE: Storage = {
  getItem() {},
  setItem() {
    throw 0
  },
  removeItem() {},
  getAllKeys: () => [],
} as Storage

const after = (ms: number, run: () => void) => {
  const timer: unknown = setTimeout(run, ms)
  // In Node a waiting queue does not keep the process alive.
  ;(timer as { unref?(): void }).unref?.()
  return () => clearTimeout(timer as number)
}

async function post({ url, headers, body }: Request): Promise<Answer> {
  const abort = typeof AbortController === 'undefined' ? null : new AbortController()
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = after(TIMEOUT_MS, () => {
      reject(new Error('timeout'))
      abort?.abort()
    })
  })
  const ask = async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      credentials: 'omit',
      ...(abort && { signal: abort.signal }),
    })
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, text: await response.text(), retryAfter }
  }
  try {
    return await Promise.race([ask(), late])
  } finally {
    cancel()
  }
}

type Locks = { request<T>(name: string, work: () => Promise<T>): Promise<T> }

/** The runtime as it is, with `storage` or memory. */
export function openEnvironment(storage?: Storage | null): Environment {
  const { locks } = ((globalThis as { navigator?: object }).navigator ?? {}) as { locks?: Locks }
  return {
    now: () => Date.now(),
    random: () => Math.random(),
    after,
    post,
    storage: storage ?? NO_STORAGE,
    isMemory: !storage,
    // Memory is not shared. Where a page has no storage, because its origin is opaque, its locks throw.
    lock: locks && storage ? (name, work) => locks.request(name, work) : null,
  }
}
