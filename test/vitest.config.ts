import { defineConfig } from 'vitest/config'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `The tests need Node 24; this is ${process.version}. npm test brings the right one along.\n`,
  )
  process.exit(1)
}

const BROWSER = ['test/browser/**/*.test.ts']
/** Kill processes, fill disks and flood the server. */
const FAULTS = ['test/**/*.fault.ts', 'test/faults/**/*.test.ts']
/** Start processes, play simulated histories or draw cases at random. Any other folder is fast. */
const SLOW = [
  'api/customers',
  'apps',
  'attribution',
  'cli',
  'demo',
  'jobs',
  'ledger',
  'metrics',
  'rates',
  'store/backup',
  'tools',
].map((folder) => `test/${folder}/**`)

const EVERYTHING = ['test/**/*.test.ts']
const BESIDES = [...BROWSER, ...FAULTS]
/** `core` is `npm test`; `npm run test:fast` and so on are the others. A test is in core, browser or faults. */
const SUITES: Record<string, { include: string[]; exclude: string[] }> = {
  core: { include: EVERYTHING, exclude: BESIDES },
  fast: { include: EVERYTHING, exclude: [...BESIDES, ...SLOW] },
  browser: { include: BROWSER, exclude: [] },
  faults: { include: FAULTS, exclude: [] },
  all: { include: [...EVERYTHING, ...FAULTS], exclude: [] },
}
const name = process.env.WINDFALL_SUITE ?? 'core'
const suite = SUITES[name]
if (!suite) throw new Error(`there is no suite ${name}; there are ${Object.keys(SUITES).join(', ')}`)

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    ...suite,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // One less than there are, which is what is usual, would be one at a time on two cores.
    maxWorkers: '100%',
  },
})
