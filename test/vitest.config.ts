import { defineConfig } from 'vitest/config'

/** `core` is `npm test`. `faults` kills processes, fills disks and floods the server, and takes longer. */
const SUITES = { core: ['test/**/*.test.ts'], faults: ['test/**/*.fault.ts'] }
const suite = process.env.WINDFALL_SUITE ?? 'core'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: Object.entries(SUITES).flatMap(([name, files]) =>
      suite === name || suite === 'all' ? files : [],
    ),
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // One less than there are, which is what is usual, would be one at a time on two cores.
    maxWorkers: '100%',
  },
})
