/** The command `windfall sql`: runs one query on the views of the exported tables. */
import { text } from 'node:stream/consumers'
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import { rowWriter } from '../../exports/formats.ts'
import type { Cell } from '../../exports/tables/table.ts'
import { EXPORT_TABLES } from '../../exports/tables/tables.ts'
import { assertDatabaseExists, columns, configArg, load, plural } from '../instance/instance.ts'
import { isJson, print, printError, setResult } from '../instance/output.ts'
import { actAsOwnerOf } from '../instance/privileges.ts'
import { MAX_ROWS } from './messages.ts'
import { runQuery } from './run.ts'

/** The size of a result that is held until its end, and what a cell takes beside its text. */
const MAX_HELD_CHARACTERS = 64 * 1024 * 1024
const CELL_OVERHEAD = 16

export const sqlCommand = defineCommand({
  meta: { name: 'sql', description: 'Run one query on the views of the data; it cannot write' },
  args: {
    query: {
      type: 'positional',
      required: false,
      description: 'The query, in the SQL of SQLite (default: stdin)',
    },
    schema: { type: 'boolean', description: 'List the views and their columns instead' },
    csv: { type: 'boolean', description: 'Print CSV instead of aligned columns' },
    ...configArg,
  },
  async run({ args }) {
    if (args.schema) return printSchema()
    const { config } = load(args.config)
    assertDatabaseExists(config)
    const sql = args.query ?? (await readQuery())
    actAsOwnerOf(config.store.path)
    const result = openResult(args.csv === true)
    const { isComplete } = await runQuery(config.store.path, sql, result.receiver)
    result.end()
    if (isComplete) return
    process.exitCode = 1
    printError(
      `The result was cut after ${plural(MAX_ROWS, 'row')}. Add a LIMIT, or use windfall export for whole tables.`,
    )
  },
})

/** @throws Refusal 400 `invalid_request` on a terminal, where there is no file to read. */
async function readQuery(): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin)
  throw new Refusal(
    400,
    'invalid_request',
    'write the query as an argument, such as windfall sql "select count(*) from customers"; windfall sql --schema lists the views',
  )
}

/** Prints rows: CSV as they come, aligned columns and JSON at the end. */
function openResult(isCsv: boolean) {
  const rows: (readonly Cell[])[] = []
  let names: readonly string[] = []
  let held = 0
  const writer = rowWriter('csv', [])

  /** @throws Refusal 400 `result_too_large` */
  function row(one: readonly Cell[]): void {
    if (isCsv && !isJson()) return void process.stdout.write(writer.line(one))
    held += one.reduce<number>((sum, cell) => sum + CELL_OVERHEAD + String(cell).length, 0)
    if (held > MAX_HELD_CHARACTERS)
      throw new Refusal(400, 'result_too_large', 'the result is larger than 64 MiB; narrow it, or use --csv')
    rows.push(one)
  }

  return {
    receiver: {
      columns(found: readonly string[]): void {
        names = found
        if (isCsv) row(found)
      },
      row,
    },
    end(): void {
      setResult({ columns: names, rows })
      if (isCsv) return
      if (rows.length > 0) print(columns([names, ...rows.map((one) => one.map(oneLine))]))
      printError(plural(rows.length, 'row'))
    },
  }
}

/** A cell without line breaks and control characters, which would break the alignment or change the terminal. */
const oneLine = (cell: Cell): Cell => (typeof cell === 'string' ? cell.replace(/\p{Cc}+/gu, ' ') : cell)

function printSchema(): void {
  setResult({
    views: EXPORT_TABLES.map((view) => ({
      name: view.name,
      about: view.about,
      columns: view.columns.map(({ name, type, about }) => ({ name, type, about })),
    })),
  })
  for (const { name, about, columns: all } of EXPORT_TABLES) {
    print(`${name}: ${about}`)
    for (const column of all) print(`  ${column.name.padEnd(32)} ${column.type.padEnd(8)} ${column.about}`)
    print('')
  }
}
