import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { DemoOrder } from './browser/demo/order.ts'
import { LongestFirst } from './suites/longest_first.ts'
import { useMemoryFolder } from './suites/memory_folder.ts'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `The tests need Node 24; this is ${process.version}. Run npm test, which uses the Node of node_modules.\n`,
  )
  process.exit(1)
}

// Threads and processes that run from the sources would compile hundreds of files each time. Tests inherit this.
process.env.NODE_COMPILE_CACHE ??= new URL('../node_modules/.cache/tests', import.meta.url).pathname

const BROWSER = ['test/browser/**/*.test.ts']
/** Tests of the single executable, which `npm run test:binary` builds first. */
const BINARY = ['test/binary/**/*.test.ts']
/** Tests that kill processes, fill disks and flood the server. */
const FAULTS = ['test/**/*.fault.ts', 'test/faults/**/*.test.ts']
/** Tests of the JavaScript SDK. */
const SDK = ['test/sdk/**/*.test.ts']
/** Tests of the Swift SDK, which `npm run test:swift` builds first. */
const SWIFT = ['test/swift/**/*.test.ts']
/** Tests of the Android SDK, which `npm run test:android` builds first. */
const ANDROID = ['test/android/**/*.test.ts']
/** Tests of the program as it ships, which `npm run test:shipped` builds for a simulated Apple. */
const SHIPPED = ['test/shipped/**/*.test.ts']
/** Tests that run commands as processes. */
const CLI = ['test/cli/**/*.test.ts', 'test/demo/command.test.ts']
/** Folders whose tests start processes, simulate histories or generate random cases. The other folders are fast. */
const SLOW = [
  'api/customers',
  'apps',
  'attribution',
  'demo',
  'jobs',
  'ledger',
  'metrics',
  'rates',
  'store/backup',
  'tools',
].map((folder) => `test/${folder}/**`)

const EVERYTHING = ['test/**/*.test.ts']
const OTHER_SUITES = [...BROWSER, ...FAULTS, ...BINARY, ...SDK, ...SWIFT, ...ANDROID, ...CLI, ...SHIPPED]
/** `core` is `npm test`; the others are `npm run test:fast` and so on. Each test is in core, cli, browser, faults, binary, sdk, swift, android or shipped. */
const SUITES: Record<string, { include: string[]; exclude: string[] }> = {
  core: { include: EVERYTHING, exclude: OTHER_SUITES },
  fast: { include: EVERYTHING, exclude: [...OTHER_SUITES, ...SLOW] },
  browser: { include: BROWSER, exclude: [] },
  faults: { include: FAULTS, exclude: [] },
  binary: { include: BINARY, exclude: [] },
  sdk: { include: SDK, exclude: [] },
  swift: { include: SWIFT, exclude: [] },
  android: { include: ANDROID, exclude: [] },
  cli: { include: CLI, exclude: [] },
  shipped: { include: SHIPPED, exclude: [] },
  all: { include: [...EVERYTHING, ...FAULTS], exclude: [...SWIFT, ...ANDROID, ...SHIPPED] },
}
/** Their tests wait for processes and disks, so one more worker than cores keeps the cores busy. */
const WAITS = ['cli', 'faults']
/** Their tests kill processes and fill disks, or install systems and executables. */
const NEEDS_DISK = ['faults', 'binary', 'shipped', 'swift', 'android', 'all']
const HAS_BROWSER_TESTS = ['browser', 'all']
const name = process.env.WINDFALL_SUITE ?? 'core'
const suite = SUITES[name]
if (!suite) throw new Error(`unknown suite ${name}; the suites are ${Object.keys(SUITES).join(', ')}`)
if (!NEEDS_DISK.includes(name)) useMemoryFolder()

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    ...suite,
    setupFiles: ['test/setup.ts'],
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
