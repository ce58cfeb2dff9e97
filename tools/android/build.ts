/**
 * Builds the Android SDK without its tests: `sdk/android/target/repository`, a folder that Gradle uses as a Maven repository.
 * `npm run build:android`.
 */
import { join } from 'node:path'
import { commandLine, PROJECT } from './maven.ts'
import { run } from './run.ts'

const isBuilt = await run(
  commandLine('--quiet', '-Dmaven.test.skip=true', '-Ppublication', 'prepare-package'),
  PROJECT,
)
if (isBuilt) process.stdout.write(`${join(PROJECT, 'target/repository')}\n`)
process.exitCode = isBuilt ? 0 : 1
