/**
 * `npm run test:shipped`: two minutes of the bundle and of the executable in a hostile world. `-- --minutes N` runs longer. `--seed N` is the seed of the
 * world, and `--form bundle` or `--form executable` runs one of the two.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, form: { type: 'string' } },
})

const number = (name: 'minutes' | 'seed'): string => {
  const text = values[name] ?? ''
  if (!(Number(text) > 0)) throw new Error(`--${name} must be a number above 0, not ${text}`)
  return text
}

const env = {
  ...process.env,
  WINDFALL_SUITE: 'shipped',
  ...(values.minutes !== undefined && { WINDFALL_MINUTES: number('minutes') }),
  ...(values.seed !== undefined && { WINDFALL_SEED: number('seed') }),
}
const files = [values.form ?? '']
const args = [
  'run',
  '--config',
  'test/vitest.config.ts',
  ...files.filter(Boolean).map((name) => `test/shipped/${name}.test.ts`),
]
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
process.exitCode = status ?? 1
