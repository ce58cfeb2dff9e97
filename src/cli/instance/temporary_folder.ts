/** A folder that lives as long as a piece of work. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../clock.ts'

const PREFIX = 'windfall-temporary-'
/** The process of a folder can run in another container. It then writes into the folder all the time. */
const ABANDONED_MS = 600_000

/**
 * Runs `work` with a temporary folder in `above`, and deletes it afterwards, also on SIGINT and SIGTERM. Deletes those of
 * processes that were killed more than ten minutes ago.
 */
export async function inTemporaryFolder<Result>(
  above: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  removeAbandoned(above)
  const folder = mkdtempSync(join(above, `${PREFIX}${process.pid}-`))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const exitOnSignal = (): never => {
    remove()
    process.exit(130)
  }
  process.once('SIGINT', exitOnSignal).once('SIGTERM', exitOnSignal)
  try {
    return await work(folder)
  } finally {
    process.off('SIGINT', exitOnSignal).off('SIGTERM', exitOnSignal)
    remove()
  }
}

/** Deletes the temporary folders of this user whose process has ended. What cannot be deleted stays. */
function removeAbandoned(above: string): void {
  for (const name of readdirSync(above).filter((one) => one.startsWith(PREFIX))) {
    const folder = join(above, name)
    try {
      const { uid } = lstatSync(folder)
      const pid = Number(/^(\d+)-/.exec(name.slice(PREFIX.length))?.[1] ?? 0)
      // In a container, this process often has the number of the one that was killed there.
      const isEnded = pid === process.pid || (pid > 0 && !isRunning(pid))
      const isAbandoned = isEnded && systemClock() - writtenAt(folder) > ABANDONED_MS
      if (uid === process.getuid?.() && isAbandoned) rmSync(folder, { recursive: true, force: true })
    } catch {
      // Another process has deleted it, or it belongs to another user.
    }
  }
}

/** When something in the folder was last written, in ms since the epoch. */
const writtenAt = (folder: string): number =>
  Math.max(...['.', ...readdirSync(folder)].map((name) => lstatSync(join(folder, name)).mtimeMs))

/** Whether there is a process with this number. One of another user refuses the signal. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH'
  }
}
