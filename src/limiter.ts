/**
 * Limits how much asynchronous work runs at once; the rest waits in a queue. p-limit and p-queue have neither a bounded
 * queue nor one that gives up a waiter for another.
 */

/** Waiting work: `begin` starts it, `refuse` rejects it. */
export type Waiter = { begin: () => void; refuse: (error: Error) => void }

/** A queue of waiting work. `add` may refuse the new waiter or an older one; `next` removes the one that runs next. */
export type Queue<Place> = { add: (waiter: Waiter, place: Place) => void; next: () => Waiter | undefined }

/** A first-in, first-out queue. When `most` are waiting, the next is refused with the error that `full` returns. */
export function openQueue(most = Infinity, full = () => new Error('the queue is full')): Queue<void> {
  const waiters: Waiter[] = []
  return {
    add: (waiter) => void (waiters.length < most ? waiters.push(waiter) : waiter.refuse(full())),
    next: () => waiters.shift(),
  }
}

/** Runs at most `at_once` pieces of work at the same time. `place` is the position that the queue orders waiters by. */
export function openLimiter<Place>(at_once: number, queue: Queue<Place>) {
  let running = 0

  /** Runs `work` when there is room, and resolves with its result. Rejects with its error or that of the queue. */
  async function run<Result>(work: () => Promise<Result>, place: Place): Promise<Result> {
    if (running < at_once) running += 1
    else await new Promise<void>((begin, refuse) => queue.add({ begin, refuse }, place))
    try {
      return await work()
    } finally {
      // The next waiter takes over this place, so that nothing new overtakes it.
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
