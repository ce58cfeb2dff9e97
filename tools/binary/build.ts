/**
 * `npm run build:binary`: builds the executables in dist/binary, each with its SHA-256 and its list of components.
 * `--target linux-x64` builds one of them, `--target host` the one for this machine.
 */
import { parseArgs } from 'node:util'
import { at } from '../bundle.mjs'
import { writeExecutables } from './executables.ts'
import { HOST, TARGETS } from './targets.ts'

const { values } = parseArgs({ options: { target: { type: 'string', multiple: true } } })
const names = (values.target ?? Object.keys(TARGETS)).map((name) => (name === 'host' ? HOST : name))
await writeExecutables(at('dist/binary'), names).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
