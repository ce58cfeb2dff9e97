/** Runs a suite, and its failed tests again as `repeats.ts` says: `node test/suites/run.ts cli [FILE…]`. */
import { runSuite } from './suite.ts'

const [suite = '', ...args] = process.argv.slice(2)
process.exitCode = runSuite(suite, args)
