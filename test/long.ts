/** Runs the long form of all tests: `npm run test:long -- --seed N`. The default seed is random. */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({ options: { seed: { type: 'string' } }, allowPositionals: true })
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31))
process.stdout.write(`long tests with --seed ${seed}\n`)
const { status } = spawnSync('vitest', ['run', '--config', 'test/vitest.config.ts', ...positionals], {
  stdio: 'inherit',
  env: { ...process.env, WINDFALL_LONG: '1', WINDFALL_SUITE: 'all', WINDFALL_SEED: seed },
})
process.exitCode = status ?? 1
