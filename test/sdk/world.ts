/**
 * The world around the SDK in tests: a clock and timers turned by hand, a network and a storage that fail on request, and
 * processes that are killed between any two operations.
 */
import type { Answer, Environment, Request } from '../../sdk/js/src/environment.ts'
import type { Storage } from '../../sdk/js/src/types.ts'

/** What a process does to the outside. */
type Step = 'get' | 'set' | 'remove' | 'keys'

export type Faults = {
  /** Whether this operation of the storage fails; `after` fails although it took effect. */
  storage(step: Step, key: string): 'no' | 'before' | 'after'
}

export const NO_FAULTS: Faults = { storage: () => 'no' }

const never = new Promise<never>(() => {})

/** @param answer gives the answer of the network; it may reject, or wait */
export function openWorld(
  answer: (request: Request) => Promise<Answer> | Answer,
  { random = () => 1, start = Date.UTC(2026, 0, 1) }: { random?: () => number; start?: number } = {},
) {
  /** What survives a kill. */
  const stored = new Map<string, string>()
  /** Time that only goes forward, for timers; the wall clock is `skew` ahead. */
  let monotonic = 0
  let skew = start
  let faults = NO_FAULTS

  /** One process: after `kill` nothing that it began goes on. */
  function boot() {
    let isDead = false
    /** Half operations until the process is killed. */
    let left = Number.POSITIVE_INFINITY
    /** Writes that the storage refused and that were not repeated since. */
    const unsaved = new Set<string>()
    const written = new Map<string, string>()
    const live = (): boolean => {
      if (isDead) return false
      left -= 1
      if (left < 0) isDead = true
      return !isDead
    }
    const timers = new Set<{ at: number; run: () => void }>()

    /** Runs an operation of the process, or kills the process before or after it. */
    async function step<T>(run: () => T | Promise<T>): Promise<T> {
      if (!live()) return never
      await null
      const ended = isDead ? [] : await Promise.allSettled([(async () => run())()])
      const [one] = ended
      if (one === undefined || !live()) return never
      if (one.status === 'rejected') throw one.reason
      return one.value
    }

    function note(name: string, key: string, isRefused: boolean): void {
      if (name !== 'set' && name !== 'remove') return
      if (isRefused) unsaved.add(key)
      // The state that the storage refused is still missing when the one before it is removed.
      else if (name === 'set' || key.startsWith('windfall.q.')) unsaved.delete(key)
    }

    const touch = <T>(name: Step, key: string, run: () => T): Promise<T> =>
      step(() => {
        const fault = faults.storage(name, key)
        note(name, key, fault !== 'no')
        if (fault === 'before') throw new Error(`${name} failed`)
        const value = run()
        if (fault === 'after') throw new Error(`${name} failed late`)
        return value
      })

    const storage: Storage = {
      getItem: (key) => touch('get', key, () => stored.get(key) ?? null),
      setItem: (key, value) => {
        if (!isDead) written.set(key, value)
        return touch('set', key, () => void stored.set(key, value))
      },
      removeItem: (key) => touch('remove', key, () => void stored.delete(key)),
      getAllKeys: () => touch('keys', '', () => [...stored.keys()]),
    }
    const environment: Environment = {
      now: () => monotonic + skew,
      random,
      after(ms, run) {
        const timer = { at: monotonic + ms, run }
        timers.add(timer)
        return () => timers.delete(timer)
      },
      post: (request) => step(() => answer(request)),
      storage,
      isMemory: false,
      lock: null,
    }
    const process = {
      environment,
      isDead: () => isDead,
      kill(): void {
        isDead = true
      },
      /** Kills the process after so many half operations. */
      doom(steps: number): void {
        left = steps
      },
      /** Whether the storage refused a write that counts and was not repeated since. */
      isFailing: () => [...unsaved].some((key) => key !== 'windfall.lease'),
      /** What the process last wanted a key to be. */
      written: (key: string) => written.get(key) ?? stored.get(key) ?? null,
      timers: () => (isDead ? new Set<never>() : timers),
    }
    processes.add(process)
    return process
  }
  const processes = new Set<Process>()

  /** Lets everything that can happen without a timer happen. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  /** Lets time pass, and runs the timers that are due. */
  async function advance(ms: number): Promise<void> {
    const end = monotonic + ms
    await settle()
    for (;;) {
      const due = [...processes]
        .flatMap((one) => [...one.timers()].map((timer) => ({ one, timer })))
        .filter(({ timer }) => timer.at <= end)
        .sort((a, b) => a.timer.at - b.timer.at)[0]
      if (!due) break
      due.one.timers().delete(due.timer as never)
      monotonic = Math.max(monotonic, due.timer.at)
      due.timer.run()
      await settle()
    }
    monotonic = end
  }

  return {
    stored,
    boot,
    settle,
    advance,
    now: () => monotonic + skew,
    /** Turns the wall clock alone. */
    turnClock(ms: number): void {
      skew += ms
    },
    setFaults(next: Faults): void {
      faults = next
    },
  }
}

type Process = {
  environment: Environment
  isDead(): boolean
  kill(): void
  doom(steps: number): void
  isFailing(): boolean
  written(key: string): string | null
  timers(): Set<{ at: number; run: () => void }>
}
