/** Runs work once the page has what it shows: no read is in progress and the browser is idle. */
import { client } from '../queries.ts'

/** Idle work begins after this time at the latest, also while the page is busy. */
const MAX_WAIT_MS = 2_000
/** How often a page that reads is looked at again. */
const CHECK_MS = 50

let waiting: (() => void)[] = []

/** Works that wait at the same time run together, so that their reads become one request. */
export function whenIdle(work: () => void): void {
  if (waiting.push(work) === 1) check(MAX_WAIT_MS)
}

function check(left_ms: number): void {
  setTimeout(() => {
    if (left_ms > 0 && client.isFetching() > 0) check(left_ms - CHECK_MS)
    else requestIdle(run)
  }, CHECK_MS)
}

function run(): void {
  const works = waiting
  waiting = []
  for (const work of works) work()
}

/** Safari has no requestIdleCallback. */
const requestIdle = (work: () => void): unknown =>
  'requestIdleCallback' in window
    ? requestIdleCallback(work, { timeout: MAX_WAIT_MS })
    : setTimeout(work, CHECK_MS)
