/** Runs a command as a separate process in a temporary folder. */
import { spawnSync } from 'node:child_process'

/**
 * Runs `windfall` with these arguments; the environment holds nothing but PATH, the cache of compiled code and what is
 * given.
 */
export function windfall(args: string[], options: { cwd: string; env?: Record<string, string> }) {
  const cli = new URL('../../src/cli/cli.ts', import.meta.url)
  const script = `import { runCli } from '${cli}'; await runCli(process.argv.slice(1))`
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script, '--', ...args],
    { cwd: options.cwd, env: { PATH, NODE_COMPILE_CACHE, ...options.env }, encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}
