/**
 * `npm run test:shipped`: two minutes of the bundle and of the executable in a hostile world. `-- --minutes N` runs longer;
 * `-- --days N` simulates days of the bundle, whose clock jumps whenever nothing is under way. `--seed N` is the seed of the
 * world, and `--form bundle` or `--form executable` runs one of the two.
 */
import { parseArgs } from 'node:util'
import { runSuite } from '../suites/suite.ts'

const FORMS = ['bundle', 'executable']

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    days: { type: 'string' },
    seed: { type: 'string' },
    form: { type: 'string' },
  },
})

/** Passes an option to the tests, which are processes of their own. */
function pass(name: 'minutes' | 'days' | 'seed', variable: string): void {
  const text = values[name]
  if (text === undefined) return
  if (!(Number(text) > 0)) throw new Error(`--${name} must be a number above 0, not ${text}`)
  process.env[variable] = text
}

pass('minutes', 'WINDFALL_MINUTES')
pass('days', 'WINDFALL_DAYS')
pass('seed', 'WINDFALL_SEED')
if (values.form !== undefined && !FORMS.includes(values.form))
  throw new Error(`--form must be ${FORMS.join(' or ')}, not ${values.form}`)
const forms = values.form === undefined ? FORMS : [values.form]
const tests = values.days === undefined ? forms : ['days']
process.exitCode = runSuite(
  'shipped',
  tests.map((name) => `test/shipped/${name}.test.ts`),
)
