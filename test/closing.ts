/** Closes the resources that a test opened, also if the test fails. */
import { afterAll, onTestFinished, TestRunner } from 'vitest'

type Closable = { close(): Promise<void> }

const shared: (() => unknown)[] = []

afterAll(async () => {
  for (const end of shared.reverse()) await end()
})

/** Runs `end` after the last test of the file. Calls run in reverse order. */
export const atEndOfFile = (end: () => unknown): void => void shared.push(end)

/**
 * Closes `opened` at the end of the current test, or after the last test of the file if no test is running. Later calls
 * of its `close` have no effect.
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
