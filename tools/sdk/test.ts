/**
 * Builds and tests the JavaScript SDK: `npm run test:sdk`, with the files to test, if not all, and `-- --due` for continuous
 * integration, which leaves out what passed on this machine or is on the main branch.
 */
import { spawnSync } from 'node:child_process'
import { at } from '../bundle.mjs'
import { cacheFolder } from '../due/cache.ts'
import { SERVER } from '../due/server.ts'
import { runSuite } from '../due/suite.ts'

const all = process.argv.slice(2)
const args = all.filter((arg) => arg !== '--due')

const run = (...line: readonly string[]): boolean =>
  spawnSync(process.execPath, line, { cwd: at('.'), stdio: 'inherit' }).status === 0

const suite = {
  name: 'sdk',
  paths: ['sdk/js', 'sdk/contract'],
  dependencies: [
    'tools/sdk',
    'package-lock.json',
    'src/cli/links',
    'src/events/vocabulary.ts',
    'src/forwarding',
    ...SERVER,
  ],
  folder: cacheFolder('windfall-sdk'),
  fault: () => null,
  test: () => run('tools/sdk/build.ts') && run('test/suites/run.ts', 'sdk', ...args),
  // Without a browser, some tests are left out.
  isComplete: args.length === 0 && process.env.WINDFALL_BROWSER === 'required',
}
process.exitCode = await runSuite(suite, { due: all.length > args.length })
