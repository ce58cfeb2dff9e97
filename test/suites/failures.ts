/** A report of what failed in a run, from which the next run is decided. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export type Failure = {
  /** From the top of the repository. */
  file: string
  /** The test, or the group whose hook failed; empty if it is the file itself. */
  name: string
  /** The first error. */
  error: string
  /** Whether nothing but the time ran out, and no assertion began before that. */
  isEarlyTimeout: boolean
}

export type Report = {
  failures: readonly Failure[]
  /** Errors that belong to no test. */
  unhandled: readonly string[]
}

type Failed = { name: string; errors: readonly { message: string }[]; hasAsserted: boolean }

const isTimeout = ({ message }: { message: string }): boolean =>
  /^(Test|Hook) timed out in \d+ms/.test(message)

function failuresIn(testModule: TestModule): Failure[] {
  const tests = [...testModule.children.allTests()]
  const hasAsserted = tests.some((test) => (test.meta().assertions ?? 0) > 0)
  const failed: Failed[] = [
    // The hooks of a group run before the first of its tests, or after assertions.
    { name: '', errors: testModule.errors(), hasAsserted },
    ...[...testModule.children.allSuites()].map((suite) => ({
      name: suite.fullName,
      errors: suite.errors(),
      hasAsserted,
    })),
    ...tests.map((test) => ({
      name: test.fullName,
      errors: test.result().errors ?? [],
      hasAsserted: (test.meta().assertions ?? 0) > 0,
    })),
  ]
  return failed
    .filter(({ errors }) => errors.length > 0)
    .map(({ name, errors, hasAsserted }) => ({
      file: testModule.relativeModuleId,
      name,
      error: errors[0]?.message ?? '',
      isEarlyTimeout: errors.every(isTimeout) && !hasAsserted,
    }))
}

/** Writes a `Report` to `path` at the end of a run that nobody interrupted. */
export const reportFailures = (path: string): Reporter => ({
  onTestRunEnd(testModules, unhandled, reason) {
    if (reason === 'interrupted') return
    const report: Report = {
      failures: testModules.flatMap(failuresIn),
      unhandled: unhandled.map(({ message }) => message),
    }
    writeFileSync(path, JSON.stringify(report))
  },
})

/** The report at `path`, or null if the run did not come to its end. */
export function readReport(path: string): Report | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
