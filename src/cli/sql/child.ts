/** The process that runs one query on the views. Its parent ends it if it takes too long or too much memory. */

import sqlite, { type DatabaseSync, type StatementSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import type { Cell } from '../../exports/tables/table.ts'
import { authorize } from './authorizer.ts'
import { MAX_ROWS, type QueryMessage } from './messages.ts'
import { createViews } from './views.ts'
import { endWithParent } from './watchdog.ts'

const BUSY_TIMEOUT_MS = 5_000
const LIMITS = {
  attach: 0,
  length: 10_000_000,
  sqlLength: 100_000,
  exprDepth: 500,
  likePatternLength: 1_000,
} as const
/** How much output is collected before it is written. */
const OUTPUT_BYTES = 65_536

/** Runs the query on stdin on the database `file` for the process `parent`, and writes messages to stdout. */
export async function runQuery([file = '', parent = '']: readonly string[]): Promise<void> {
  endWithParent(Number(parent))
  const sql = await text(process.stdin)
  const output = openOutput()
  try {
    const statement = prepareQuery(file, sql)
    output.write({ columns: statement.columns().map(({ name }) => name) })
    let rows = 0
    for (const row of statement.iterate()) {
      if (rows === MAX_ROWS) break
      rows += 1
      output.write(Object.values(row).map(cellOf))
      await output.whenDrained()
    }
    output.write({ end: rows === MAX_ROWS ? 'row_limit' : 'complete' })
  } catch (error) {
    output.write({ refused: reasonOf(error) })
  }
  output.flush()
}

/** SQLite's words, with what is permitted where they only say that something is not. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const isRefused = /not authorized|prohibited|no such table/.test(message)
  return isRefused ? `${message}. A query reads the views, which windfall sql --schema lists` : message
}

/** @throws Error of SQLite, or with what is wrong with the query. */
function prepareQuery(file: string, sql: string): StatementSync {
  if (withoutComments(sql) === '') throw new Error('there is no query')
  if (!/^(select|with|values|explain)\b/i.test(withoutComments(sql)))
    throw new Error('the query must begin with SELECT, WITH, VALUES or EXPLAIN')
  const [db, lookups] = [openReadOnly(file), openReadOnly(file)]
  const views = createViews(db, lookups)
  authorize(db, sql, views)
  const statement = db.prepare(sql)
  if (withoutComments(sql.slice(statement.sourceSQL.length)) !== '')
    throw new Error('the query must be a single statement')
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement
}

function openReadOnly(file: string): DatabaseSync {
  const db = new sqlite.DatabaseSync(file, {
    readOnly: true,
    allowExtension: false,
    enableDoubleQuotedStringLiterals: false,
    timeout: BUSY_TIMEOUT_MS,
    limits: LIMITS,
  })
  // Sorting must not write temporary files.
  db.exec('pragma temp_store = memory')
  return db
}

const withoutComments = (sql: string): string =>
  sql.replace(/^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?(?:\*\/|$))+/, '').trim()

function cellOf(value: unknown): Cell {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return value as Cell
}

/** Writes JSON lines in large pieces, and waits while the parent does not read. */
function openOutput() {
  let pending = ''
  let isFull = false

  function write(message: QueryMessage): void {
    pending += `${JSON.stringify(message)}\n`
    if (pending.length >= OUTPUT_BYTES) flush()
  }
  function flush(): void {
    isFull = !process.stdout.write(pending)
    pending = ''
  }
  async function whenDrained(): Promise<void> {
    if (!isFull) return
    await new Promise((resolve) => process.stdout.once('drain', resolve))
    isFull = false
  }
  return { write, flush, whenDrained }
}
