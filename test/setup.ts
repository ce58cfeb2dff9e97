/** Runs before the tests of each file. */
import { afterAll, beforeEach, onTestFinished } from 'vitest'
import { useCheapPasswords } from './access/cheap_passwords.ts'
import { endFile } from './closing.ts'
import { watchBoundNumbers } from './guards/bound_numbers.ts'
import { assertErrorsNamed, endErrorsOfFile } from './guards/error_lines.ts'

useCheapPasswords()
watchBoundNumbers()
// What a test registers runs in reverse order, so this runs after everything that the test opened is closed.
beforeEach(() => onTestFinished(assertErrorsNamed))
afterAll(async () => {
  await endFile()
  endErrorsOfFile()
})
