/** Closes the resources that a test opened, also if the test fails. */
import { onTestFinished, TestRunner } from 'vitest'

type Closable = { close(): Promise<void> }
type End = () => unknown

const ofFile: End[] = []
const ofEachFile: End[] = []

/** Runs `end` after the last test of the file. Calls run in reverse order. */
export const atEndOfFile = (end: End): void => void ofFile.push(end)

/** Runs `end` after the last test of each file: files share the modules that they import. */
export const atEndOfEachFile = (end: End): void => void ofEachFile.push(end)

/** Runs what the tests of a file left for its end. */
export async function endFile(): Promise<void> {
  for (const end of ofFile.splice(0).reverse()) await end()
  for (const end of ofEachFile.toReversed()) await end()
}

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
