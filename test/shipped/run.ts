/**
 * `npm run test:shipped`: two minutes of the bundle and of the executable in a hostile world. `-- --minutes N` runs longer.
 * `--seed N` is the seed of the world, and `--form bundle` or `--form executable` runs one of the two.
 */
import { parseArgs } from 'node:util'
import { runSuite } from '../suites/suite.ts'

const FORMS = ['bundle', 'executable']

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, form: { type: 'string' } },
})

/** Passes an option to the tests, which are processes of their own. */
function pass(name: 'minutes' | 'seed', variable: string): void {
  const text = values[name]
  if (text === undefined) return
  if (!(Number(text) > 0)) throw new Error(`--${name} must be a number above 0, not ${text}`)
  process.env[variable] = text
}

pass('minutes', 'WINDFALL_MINUTES')
pass('seed', 'WINDFALL_SEED')
if (values.form !== undefined && !FORMS.includes(values.form))
  throw new Error(`--form must be ${FORMS.join(' or ')}, not ${values.form}`)
const forms = values.form === undefined ? FORMS : [values.form]
process.exitCode = runSuite(
  'shipped',
  forms.map((form) => `test/shipped/${form}.test.ts`),
)
