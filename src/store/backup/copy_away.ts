/** Copies backups to another machine with a program, and records it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { Store } from '../store.ts'
import { openBackupLog } from './log.ts'

const TIME_LIMIT_MS = 3_600_000
/** How long a program that is asked to end may take. */
const GRACE_MS = 3_000
/** How long stderr may stay open after the program. What the program has started can hold it open without end. */
const LAST_WORDS_MS = 1_000
const MAX_WORDS = 500
const LATE = 'it did not end within an hour'

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
  signal.throwIfAborted()
  const failure = await failureOf(program, args, env, signal)
  signal.throwIfAborted()
  if (failure !== null) throw new Error(`${file} is verified, but ${program} did not copy it: ${failure}`)
}

/** Runs the program to its end. Returns what it said last or how it ended, if that is a failure. */
async function failureOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string | null> {
  // A group of its own, so that what the program has started ends with it.
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  let isLate = false
  let isEnding = false
  let killing: NodeJS.Timeout | undefined
  // A program that waits for a disk or a share does not end even when it is killed.
  const stuck = new AbortController()
  const end = (): void => {
    isEnding = true
    signalGroup(child.pid, 'SIGTERM')
    killing = setTimeout(() => {
      signalGroup(child.pid, 'SIGKILL')
      killing = setTimeout(() => stuck.abort(), LAST_WORDS_MS)
    }, GRACE_MS)
  }
  const limit = setTimeout(() => {
    isLate = true
    end()
  }, TIME_LIMIT_MS)
  signal.addEventListener('abort', end, { once: true })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    // A program may print its progress for an hour.
    words = `${words}${text}`.slice(-MAX_WORDS)
  })
  const closed = once(child.stderr, 'close')
  try {
    const [code, ended] = await once(child, 'exit', { signal: stuck.signal })
    await Promise.race([closed, delay(LAST_WORDS_MS)])
    if (isEnding) signalGroup(child.pid, 'SIGKILL')
    if (isLate) return LATE
    if (code === 0) return null
    return words.trim() || (code === null ? `it was ended by ${ended}` : `it ended with exit code ${code}`)
  } catch (error) {
    return isLate ? LATE : error instanceof Error ? error.message : String(error)
  } finally {
    child.stderr.destroy()
    signal.removeEventListener('abort', end)
    clearTimeout(limit)
    clearTimeout(killing)
  }
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // The group has ended.
  }
}
