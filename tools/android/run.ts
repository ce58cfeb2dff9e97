/** Runs commands with their output visible. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, PROJECT } from './maven.ts'

/** Returns whether the command succeeds. */
export function run(
  line: readonly string[],
  folder: string,
  env: Record<string, string> = {},
): Promise<boolean> {
  const [command = '', ...args] = line
  const child = spawn(command, args, { stdio: 'inherit', cwd: folder, env: { ...process.env, ...env } })
  return new Promise((resolve) => {
    child.on('error', (error) => process.stderr.write(`${error.message}\n`))
    child.on('close', (code) => resolve(code === 0))
  })
}

/** Checks the style of the Kotlin sources, or corrects what it can. Its program is among what the tests need. */
export function lint({ isCorrecting = false } = {}): Promise<boolean> {
  const version = readFileSync(join(PROJECT, 'pom.xml'), 'utf8').match(/<ktlint\.version>(.*)</)?.[1]
  const program = `repository/com/pinterest/ktlint/ktlint-cli/${version}/ktlint-cli-${version}-all.jar`
  const java = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', join(FOLDER, program)]
  const more = isCorrecting ? ['--format'] : []
  return run([...java, '--relative', ...more, 'src/**/*.kt'], PROJECT)
}
