/** Closes what a test opened, also when it fails. */
import { afterAll, onTestFinished, TestRunner } from 'vitest'

type Closable = { close(): Promise<void> }

const shared: (() => unknown)[] = []

afterAll(async () => {
  for (const end of shared.reverse()) await end()
})

/** Runs `end` after the last test of the file; what was given last is run first. */
export const atEndOfFile = (end: () => unknown): void => void shared.push(end)

/**
 * Closes `opened` when the test ends in which it was opened; what was opened before the tests, for all of them, after the
 * last. Its `close` may then be called again.
 */
export function closedAtEnd<Opened extends Closable>(opened: Opened): Opened {
  const { close } = opened
  let closed: Promise<void> | undefined
  opened.close = () => {
    closed ??= close()
    return closed
  }
  const isTest = TestRunner.getCurrentTest() !== undefined
  if (isTest) onTestFinished(opened.close)
  else atEndOfFile(opened.close)
  return opened
}
