/** Counts the assertions of each test, for the report of its failure. Runs before the tests of each file. */
import { afterEach, expect } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    assertions?: number
  }
}

afterEach(({ task }) => {
  task.meta.assertions = expect.getState().assertionCalls
})
