/**
 * Builds and tests the Android SDK. `npm run test:android`, with `-- --long` for long random sequences, `--write-api` to write
 * the dump of the public API, `--due` for continuous integration, which leaves out what passed on this machine, `--install` to
 * only download what the tests need, and `--format` to only correct the style of the Kotlin sources.
 */
import { parseArgs } from 'node:util'
import { at } from '../bundle.mjs'
import { SERVER } from '../due/server.ts'
import { runSuite } from '../due/suite.ts'
import { commandLine, FOLDER, fault, PROJECT } from './maven.ts'
import { lint, run } from './run.ts'

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    'write-api': { type: 'boolean' },
    format: { type: 'boolean' },
    due: { type: 'boolean' },
    install: { type: 'boolean' },
    excuse: { type: 'string' },
  },
})

const VITEST = ['node_modules/.bin/vitest', 'run', '--config', 'test/vitest.config.ts']

/**
 * Tests in Kotlin, then those beside a server. Only a long run makes what `npm run build:android` makes, because the pages of the
 * API take a while.
 */
async function testAll(): Promise<boolean> {
  if (values.format) return lint({ isCorrecting: true })
  const env = {
    ...(values.long && { WINDFALL_LONG: '1' }),
    ...(values['write-api'] && { WINDFALL_WRITE_API: '1' }),
  }
  const maven = values.long
    ? commandLine('-Ppublication', 'prepare-package')
    : commandLine('--offline', 'test')
  const style = lint()
  const isGreen =
    (await run(maven, PROJECT, env)) && (await run(VITEST, at('.'), { ...env, WINDFALL_SUITE: 'android' }))
  return (await style) && isGreen
}

const suite = {
  name: 'android',
  paths: ['sdk/android', 'sdk/contract'],
  dependencies: ['test/android', 'tools/android', ...SERVER],
  folder: FOLDER,
  fault,
  test: testAll,
  isComplete: !values.format,
}
process.exitCode = await runSuite(suite, values)
