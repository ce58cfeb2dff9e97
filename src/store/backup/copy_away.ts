/** Copies backups to another machine with a program, and records it. */
import { type ExecFileException, execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Clock } from '../../clock.ts'
import type { Store } from '../store.ts'
import { openBackupLog } from './log.ts'

const TIME_LIMIT_MS = 3_600_000
const MAX_OUTPUT_BYTES = 1_048_576
const MAX_WORDS = 500

/** Opens the copying of backups to another machine. */
export function openCopying(store: Pick<Store, 'commit' | 'prepare'>, clock: Clock) {
  const log = openBackupLog(store)
  const closing = new AbortController()
  let running: Promise<void> = Promise.resolve()

  /**
   * Copies the backup `file` with `command`, in whose words `{file}` stands for the path.
   *
   * @throws Error that says why it was not copied
   */
  async function copyBackup(command: readonly string[], file: string): Promise<void> {
    const copying = runCommand(command, file, closing.signal)
    running = copying.catch(() => {})
    await copying
    await store.commit(() => log.noteCopied({ at: clock(), file }))
  }

  /** Ends the program. Call it while the jobs close, because one of them waits for it. */
  async function close(): Promise<void> {
    closing.abort(new Error('the server stopped before the backup was copied'))
    await running
  }

  return { copyBackup, close }
}

/** The program gets none of the variables of Windfall, which can be secrets. @throws Error; the reason of `signal` */
async function runCommand(command: readonly string[], file: string, signal: AbortSignal): Promise<void> {
  const [program = '', ...args] = command.map((word) => word.replaceAll('{file}', () => file))
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:WINDFALL_|NOTIFY_SOCKET$)/.test(name)),
  )
  try {
    await promisify(execFile)(program, args, {
      env,
      signal,
      timeout: TIME_LIMIT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new Error(`${file} is verified, but ${program} did not copy it: ${reasonOf(error)}`)
  }
}

/** What the program said last, or how it ended. */
function reasonOf(error: unknown): string {
  const { killed, code, stderr = '', message } = error as ExecFileException
  if (killed) return 'it did not end within an hour'
  const words = stderr.trim().slice(-MAX_WORDS)
  if (words !== '') return words
  return typeof code === 'number' ? `it ended with exit code ${code}` : message
}
