/** Copies backups to another machine with a program, and records it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Clock } from '../../clock.ts'
import type { Store } from '../store.ts'
import { openBackupLog } from './log.ts'

const TIME_LIMIT_MS = 3_600_000
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
  const failure = await failureOf(program, args, { env, signal })
  signal.throwIfAborted()
  if (failure !== null) throw new Error(`${file} is verified, but ${program} did not copy it: ${failure}`)
}

/** Runs the program to its end. Returns what it said last or how it ended, if that is a failure. */
async function failureOf(
  program: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<string | null> {
  const child = spawn(program, args, {
    ...options,
    timeout: TIME_LIMIT_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    // A program may print its progress for an hour.
    words = `${words}${text}`.slice(-MAX_WORDS)
  })
  try {
    const [code, ended] = await once(child, 'close')
    if (code === 0) return null
    if (child.killed) return 'it did not end within an hour'
    return words.trim() || (code === null ? `it was ended by ${ended}` : `it ended with exit code ${code}`)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
