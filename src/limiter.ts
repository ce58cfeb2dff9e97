/**
 * Limits how much asynchronous work runs at the same time; further work waits in a queue. p-limit and p-queue have no
 * bounded queue, and none that rejects one waiter in favor of another.
 */

/** Waiting work: `begin` starts it, `refuse` rejects it. */
export type Waiter = { begin: () => void; refuse: (error: Error) => void }

/** A queue of waiting work. `add` may refuse the new waiter or an older one; `next` removes the one that runs next. */
export type Queue<Position> = {
  add: (waiter: Waiter, position: Position) => void
  next: () => Waiter | undefined
}

/** A first-in, first-out queue. While `maxWaiting` wait, a further one is refused with the error of `fullError`. */
export function openQueue(
  maxWaiting = Infinity,
  fullError = () => new Error('the queue is full'),
): Queue<void> {
  const waiters: Waiter[] = []
  return {
    add: (waiter) => void (waiters.length < maxWaiting ? waiters.push(waiter) : waiter.refuse(fullError())),
    next: () => waiters.shift(),
  }
}

/** Runs at most `maxRunning` pieces of work at the same time. `queue` orders the waiters by their `position`. */
export function openLimiter<Position>(maxRunning: number, queue: Queue<Position>) {
  let running = 0

  /** Runs `work` when there is room, and resolves with its result. Rejects with its error or that of the queue. */
  async function run<Result>(work: () => Promise<Result>, position: Position): Promise<Result> {
    if (running < maxRunning) running += 1
    else await new Promise<void>((begin, refuse) => queue.add({ begin, refuse }, position))
    try {
      return await work()
    } finally {
      // The next waiter takes over this slot, so that no new work overtakes it.
      const next = queue.next()
      if (next) next.begin()
      else running -= 1
    }
  }

  return { run }
}

/** Runs pieces of work one after another. `idle` resolves when all work so far has ended. */
export function openSerial() {
  const { run } = openLimiter(1, openQueue())
  return { run, idle: () => run(async () => {}) }
}
