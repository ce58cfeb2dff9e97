/** Fails a test during which something is logged at level error, unless the test names the line. */

const logged: string[] = []
const named: string[] = []
const namedInFile: string[] = []
/** A page that closes with its test can have requests under way when the database of the test closes. */
const ALWAYS = process.env.WINDFALL_SUITE === 'browser' ? ['The database connection is not open'] : []

/** Notes the errors in a part of a log of JSON lines. */
export function noteLog(text: string): void {
  if (!text.includes('"level":"error"')) return
  logged.push(...text.split('\n').filter((line) => line.includes('"level":"error"')))
}

/** Names the messages that the current test logs at level error. */
export const expectErrors = (...messages: readonly string[]): void => void named.push(...messages)

/** Names the messages that a test of this file, or a process that outlives its test, logs at level error. */
export const expectErrorsInFile = (...messages: readonly string[]): void => void namedInFile.push(...messages)

/** Checks the lines that remain at the end of a file, and forgets what it named. */
export function endErrorsOfFile(): void {
  try {
    assertErrorsNamed()
  } finally {
    namedInFile.length = 0
  }
}

/** Forgets the lines of the test that ends. @throws Error with the errors that no test named */
export function assertErrorsNamed(): void {
  const unnamed = logged
    .splice(0)
    .filter((line) => ![...named, ...namedInFile, ...ALWAYS].some((message) => line.includes(message)))
  named.length = 0
  if (unnamed.length > 0)
    throw new Error(`logged at level error:\n${unnamed.map((line) => line.slice(0, 500)).join('\n')}`)
}
