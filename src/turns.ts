/** What we compute: whose turn it is: long answers are made in slices, one slice in each turn of the event loop. */

const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop in which nobody else's call does, after everybody who called before. To be awaited
 * before every slice of long work: however many answers are under way, requests are served after each slice.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resumeNext)
  })
}

function resumeNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(resumeNext)
}
