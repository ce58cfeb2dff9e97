/** Which files each suite has. */
import { matchesGlob } from 'node:path'

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
  'suites',
  'tools',
].map((folder) => `test/${folder}/**`)

/** Tests of the suite faults that assert times or shares, which other work beside them would change. */
export const ALONE = [
  'test/api/long_answers.fault.ts',
  'test/faults/litestream/replication.test.ts',
  'test/faults/slow_sender.fault.ts',
  'test/faults/soak.test.ts',
  'test/faults/strangers/strangers.test.ts',
  'test/ledger/reports/many_apps.fault.ts',
]

const EVERYTHING = ['test/**/*.test.ts']
const OTHER_SUITES = [...BROWSER, ...FAULTS, ...BINARY, ...SDK, ...SWIFT, ...ANDROID, ...CLI, ...SHIPPED]
/** `core` is `npm test`; the others are `npm run test:fast` and so on. Each test is in core, cli, browser, faults, binary, sdk, swift, android or shipped. */
export const SUITES: Record<string, { include: string[]; exclude: string[] }> = {
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

/** The suite that runs a file, by its path from the top of the repository, or undefined if none does. */
export function suiteOf(file: string): string | undefined {
  const isIn = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(file, glob))
  return Object.keys(SUITES)
    .filter((name) => name !== 'all' && name !== 'fast')
    .find((name) => isIn(SUITES[name]?.include ?? []) && !isIn(SUITES[name]?.exclude ?? []))
}
