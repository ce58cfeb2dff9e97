/** Runs a query on the views in a process of its own, with a limit of its time and of its memory. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { Refusal } from '../../errors.ts'
import type { Cell } from '../../exports/tables/table.ts'
import { childCommand } from '../../program/children.ts'
import { QUERY_CHILD, type QueryMessage } from './messages.ts'

const MAX_MS = 30_000
const MAX_BYTES = 512 * 1024 * 1024
const CHECK_MEMORY_EVERY_MS = 100
const PAGE_BYTES = 4_096

type QueryLimits = Readonly<{ max_ms: number; max_bytes: number }>
const LIMITS: QueryLimits = { max_ms: MAX_MS, max_bytes: MAX_BYTES }

/** Receives the columns, then each row. */
export type QueryReceiver = Readonly<{
  columns: (names: readonly string[]) => void
  row: (row: readonly Cell[]) => void
}>

/**
 * Runs `sql` on the database `file`. Resolves with whether the result is complete, or was cut at `MAX_ROWS`.
 *
 * @throws Refusal 400 `query_refused` with the reason of SQLite, 400 `query_too_long`, 400 `query_too_large`.
 */
export async function runQuery(
  file: string,
  sql: string,
  receiver: QueryReceiver,
  limits = LIMITS,
): Promise<{ isComplete: boolean }> {
  const [program, args] = childCommand(QUERY_CHILD, [file, String(process.pid)])
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const guard = guardChild(child, limits)
  // The process may end before it has read the query.
  child.stdin.on('error', () => {})
  child.stdin.end(sql)
  const closed = once(child, 'close')
  try {
    const end = await readMessages(child.stdout, receiver)
    await closed
    if (end === null) throw guard.refusal() ?? new Error('the process of the query ended before its result')
    return { isComplete: end === 'complete' }
  } finally {
    guard.stop()
    child.kill('SIGKILL')
  }
}

/** Returns how the result ended; null if the process ended first. @throws Refusal 400 `query_refused` */
async function readMessages(
  input: Readable,
  receiver: QueryReceiver,
): Promise<'complete' | 'row_limit' | null> {
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const message = parsed(line)
    if (message === null) return null
    if (Array.isArray(message)) receiver.row(message)
    else if ('columns' in message) receiver.columns(message.columns)
    else if ('end' in message) return message.end
    else if ('refused' in message) throw new Refusal(400, 'query_refused', message.refused)
  }
  return null
}

/** A line; null for one that was cut off when the process was ended. */
function parsed(line: string): QueryMessage | null {
  try {
    return JSON.parse(line) as QueryMessage
  } catch {
    return null
  }
}

/** Ends the process when it has run for too long, or takes too much memory. */
function guardChild(child: ChildProcess, { max_ms, max_bytes }: QueryLimits) {
  let refusal: Refusal | null = null
  function end(code: string, message: string): void {
    refusal = new Refusal(400, code, message)
    child.kill('SIGKILL')
  }
  const timer = setTimeout(() => {
    end(
      'query_too_long',
      `the query took longer than ${max_ms / 1_000} seconds; narrow it, or use windfall export`,
    )
  }, max_ms)
  const memory = setInterval(() => {
    if (residentBytes(child.pid) > max_bytes)
      end('query_too_large', `the query took more than ${max_bytes / 1_048_576} MiB of memory; narrow it`)
  }, CHECK_MEMORY_EVERY_MS)
  return {
    refusal: () => refusal,
    stop(): void {
      clearTimeout(timer)
      clearInterval(memory)
    },
  }
}

/** The resident memory of a process; 0 where the system does not show it. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}
