/** Yields to the event loop between slices of long work, so that requests are served in between. */

const waiting: (() => void)[] = []

/**
 * Resolves in a later turn of the event loop, one call per turn, in the order of the calls. Await it before every slice
 * of long work. However many callers wait, requests are served after each slice.
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
