/** Replaces all timers of a process by timers of another clock, which run when they are told to. */
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'
import { promisify } from 'node:util'

type Callback = (...args: unknown[]) => void
/** A timer. `every`: the period of an interval in ms; null without one. */
type Entry = { at: number; ms: number; every: number | null; callback: Callback; args: unknown[] }

const LONGEST_MS = 2 ** 31 - 1
const delayOf = (ms: unknown): number => {
  const delay = Number(ms)
  return delay >= 1 && delay <= LONGEST_MS ? Math.trunc(delay) : 1
}

/** Replaces them. `monotonic` is the clock of the timers, in ms. */
export function installTimers(monotonic: () => number) {
  const real = { setInterval, clearTimeout }
  const waiting = new Map<object, Entry>()
  let referenced = 0
  let keepAlive: NodeJS.Timeout | null = null

  /** A process lives as long as one of its timers has a reference. */
  function refer(by: number): void {
    referenced += by
    if (referenced > 0) keepAlive ??= real.setInterval(() => {}, LONGEST_MS)
    else if (keepAlive) {
      real.clearTimeout(keepAlive)
      keepAlive = null
    }
  }

  function add(callback: Callback, ms: unknown, args: unknown[], isRepeated: boolean): object {
    const delay = delayOf(ms)
    const entry: Entry = {
      at: monotonic() + delay,
      ms: delay,
      every: isRepeated ? delay : null,
      callback,
      args,
    }
    let isReferenced = false
    const timer = {
      ref() {
        if (!isReferenced && waiting.has(timer)) refer(1)
        isReferenced = true
        return timer
      },
      unref() {
        if (isReferenced && waiting.has(timer)) refer(-1)
        isReferenced = false
        return timer
      },
      hasRef: () => isReferenced,
      refresh() {
        entry.at = monotonic() + delay
        if (!waiting.has(timer) && isReferenced) refer(1)
        waiting.set(timer, entry)
        return timer
      },
      close() {
        clear(timer)
        return timer
      },
      [Symbol.dispose]: () => clear(timer),
    }
    waiting.set(timer, entry)
    timer.ref()
    return timer
  }

  function clear(timer: unknown): void {
    const known = timer as { hasRef?: () => boolean } | null | undefined
    if (!known || !waiting.delete(known)) return
    if (known.hasRef?.()) refer(-1)
  }

  function run(timer: object, { callback, args, every }: Entry): void {
    if (every === null) clear(timer)
    else Object.assign(waiting.get(timer) ?? {}, { at: monotonic() + every })
    callback(...args)
  }

  const setLater = (callback: Callback, ms?: unknown, ...args: unknown[]): object =>
    add(callback, ms, args, false)
  const setEvery = (callback: Callback, ms?: unknown, ...args: unknown[]): object =>
    add(callback, ms, args, true)
  const pass = passingBy(setLater, clear)
  Object.defineProperty(setLater, promisify.custom, { value: pass })
  const own = { setTimeout: setLater, setInterval: setEvery, clearTimeout: clear, clearInterval: clear }
  Object.assign(globalThis, own)
  Object.assign(timers, own)
  Object.assign(timersPromises, { setTimeout: pass })
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    const late = (): void =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    ;(setLater(late, ms) as { unref(): void }).unref()
    return controller.signal
  }
  syncBuiltinESMExports()

  return {
    /** When the next timer is due, on the clock of the timers. */
    nextAt: (): number => {
      let next = Number.POSITIVE_INFINITY
      for (const { at } of waiting.values()) next = Math.min(next, at)
      return next
    },
    /** Runs the timers that are due, in their order. */
    runDue(): void {
      const now = monotonic()
      const due = [...waiting].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at)
      for (const [timer, entry] of due) if (waiting.has(timer)) run(timer, entry)
    },
  }
}

type Options = { signal?: AbortSignal; ref?: boolean }

/** `setTimeout` of node:timers/promises. */
const passingBy =
  (later: (callback: Callback, ms: unknown) => object, clear: (timer: unknown) => void) =>
  <Value>(ms?: number, value?: Value, { signal, ref = true }: Options = {}): Promise<Value | undefined> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        clear(timer)
        reject(
          Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }),
        )
      }
      const timer = later(() => {
        signal?.removeEventListener('abort', abort)
        resolve(value)
      }, ms)
      if (!ref) (timer as { unref(): void }).unref()
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
    })
