/** Starts this program again as a child process, in each form of the program. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { addonFile } from './addon.ts'
import { bundleFolder, form } from './form.ts'

/** The first argument of a child process. It is not a command for users. */
export const CHILD_FLAG = '--child'

/**
 * The file and the arguments that run the task `name` of src/children.ts in a process of its own. It uses the addon of
 * this process, because it reads no configuration.
 */
export function childCommand(name: string, args: readonly string[]): [file: string, args: string[]] {
  const addon = addonFile()
  const own = [CHILD_FLAG, addon === null ? '' : dirname(addon), name, ...args]
  if (form === 'executable') return [process.execPath, own]
  const entry =
    bundleFolder === null
      ? fileURLToPath(new URL('../main.ts', import.meta.url))
      : join(bundleFolder, 'windfall.mjs')
  return [process.execPath, [entry, ...own]]
}

/**
 * Runs the task `name` in a process of its own until it ends.
 *
 * @throws Error with what the process printed to stderr, after `fault`; when `signal` aborts, after the process has ended.
 */
export async function runInChild(
  name: string,
  args: readonly string[],
  { signal, fault }: { signal: AbortSignal; fault: string },
): Promise<void> {
  signal.throwIfAborted()
  const [file, allArgs] = childCommand(name, args)
  const child = spawn(file, allArgs, { stdio: ['ignore', 'ignore', 'pipe'] })
  const end = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', end)
  try {
    const [[status], printed] = await Promise.all([once(child, 'close'), text(child.stderr)])
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`${fault}: ${printed.trim() || `exit code ${status}`}`)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Does the work of a child process. Prints the message of an error for `runInChild`, and sets the exit code 1. */
export async function reportError(work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    process.stderr.write(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
