/**
 * `npm run test:shipped`: two minutes of the bundle and of the executable in a hostile world. `-- --minutes N` runs longer;
 * `-- --days N` simulates days of the bundle, whose clock jumps whenever nothing is under way. `--seed N` is the seed of the
 * world, and `--form bundle` or `--form executable` runs one of the two.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    days: { type: 'string' },
    seed: { type: 'string' },
    form: { type: 'string' },
  },
})

const number = (name: 'minutes' | 'days' | 'seed'): string => {
  const text = values[name] ?? ''
  if (!(Number(text) > 0)) throw new Error(`--${name} must be a number above 0, not ${text}`)
  return text
}

const env = {
  ...process.env,
  WINDFALL_SUITE: 'shipped',
  ...(values.minutes !== undefined && { WINDFALL_MINUTES: number('minutes') }),
  ...(values.days !== undefined && { WINDFALL_DAYS: number('days') }),
  ...(values.seed !== undefined && { WINDFALL_SEED: number('seed') }),
}
const files = values.days === undefined ? [values.form ?? ''] : ['days']
const args = [
  'run',
  '--config',
  'test/vitest.config.ts',
  ...files.filter(Boolean).map((name) => `test/shipped/${name}.test.ts`),
]
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
process.exitCode = status ?? 1
