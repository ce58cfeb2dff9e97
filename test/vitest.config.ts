import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { DemoOrder } from './browser/demo/order.ts'
import { reportFailures } from './suites/failures.ts'
import { LongestFirst } from './suites/longest_first.ts'
import { useMemoryFolder } from './suites/memory_folder.ts'
import { ALONE, SUITES } from './suites/suites.ts'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `The tests need Node 24; this is ${process.version}. Run npm test, which uses the Node of node_modules.\n`,
  )
  process.exit(1)
}

/** A path from this folder. */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// Threads and processes that run from the sources would compile hundreds of files each time. Tests inherit this.
process.env.NODE_COMPILE_CACHE ??= at('../node_modules/.cache/tests')

/** Their tests wait for processes and disks, so one more worker than cores keeps the cores busy. */
const WAITS = ['cli', 'faults']
/** Their tests kill processes and fill disks, or install systems and executables. */
const NEEDS_DISK = ['faults', 'binary', 'shipped', 'swift', 'android', 'all']
/** They have tests that run after the others, one at a time. */
const HAS_TESTS_ALONE = ['faults', 'all']
const HAS_BROWSER_TESTS = ['browser', 'all']
const name = process.env.WINDFALL_SUITE ?? 'core'
const suite = SUITES[name]
if (!suite) throw new Error(`unknown suite ${name}; the suites are ${Object.keys(SUITES).join(', ')}`)
if (!NEEDS_DISK.includes(name)) useMemoryFolder()
const { WINDFALL_FAILURES: failures } = process.env

/** The files of the suite that run beside one another, and those that run after them, one at a time. */
const projects = [
  { extends: true as const, test: { name: 'together', ...suite, exclude: [...suite.exclude, ...ALONE] } },
  {
    extends: true as const,
    test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
  },
]

export default defineConfig({
  test: {
    root: at('..'),
    ...(HAS_TESTS_ALONE.includes(name) ? { projects } : suite),
    setupFiles: [at('setup.ts'), at('suites/assertions.ts')],
    ...(failures && { reporters: ['default', reportFailures(failures)] }),
    // A quarter of the time of these suites would go into loading the same modules for each file.
    isolate: !['core', 'fast'].includes(name),
    ...(HAS_BROWSER_TESTS.includes(name) && {
      globalSetup: ['test/browser/demo/shared_demo.ts'],
      sequence: { sequencer: DemoOrder },
    }),
    ...(name === 'faults' && { sequence: { sequencer: LongestFirst } }),
    // The default of one second is too short for a browser on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // The default is one worker less than cores, which is one worker on two cores.
    maxWorkers: availableParallelism() + (WAITS.includes(name) ? 1 : 0),
  },
})
