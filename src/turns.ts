/**
 * What we compute: whose turn it is: long answers are made in slices, one slice in each turn of the event loop; and how
 * long one waits for work.
 */

const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop in which nobody else's call does, after everybody who called before. To be awaited
 * before every slice of long work: however many answers are under way, requests are served after each slice.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(beginTurn)
  })
}

function beginTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(beginTurn)
}

/** Whether work succeeds within `most_ms`. It goes on where it takes longer; its failure is no other's. */
export function succeedsWithin(work: Promise<unknown>, most_ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, most_ms, false)
    const end = (isDone: boolean) => {
      clearTimeout(timer)
      resolve(isDone)
    }
    work.then(
      () => end(true),
      () => end(false),
    )
  })
}
