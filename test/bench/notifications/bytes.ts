/** Disk space of a notification with all derived rows, by table. */
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Bench } from '../bench.ts'
import { fillHistory } from '../demo_history.ts'
import { alignColumns, atMost, type Figure, formatWhole } from '../figures.ts'

const MAX_BYTES = 3_000

type TableSize = { name: string; bytes: number; rows: number }

/** The bytes and rows of each table, including its indexes, largest first. */
function tableSizes(db: Database.Database): TableSize[] {
  const tables = db
    .prepare<[], { name: string; bytes: number }>(
      `select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_schema using (name)
       group by tbl_name order by bytes desc`,
    )
    .all()
  const rows = (name: string) => Number(db.prepare(`select count(*) from "${name}"`).pluck().get())
  return tables.map((part) => ({ ...part, rows: rows(part.name) }))
}

/** Tables that only SDK calls write. */
const CALL_TABLES = ['users', 'links', 'link_history']

export async function measureBytes(bench: Bench): Promise<Figure[]> {
  const file = bench.newFile()
  await fillHistory(file, bench.sizes.history_subscribers)
  const db = new Database(file, { readonly: true })
  const tables = tableSizes(db)
  const notifications = tables.find(({ name }) => name === 'notifications')?.rows ?? Number.NaN
  const call_events = db
    .prepare<[], { part: number }>("select avg(type like 'customer.%') as part from events")
    .get()
  db.close()
  const perNotification = (bytes: number): string => formatWhole(bytes / notifications)
  const table = tables.map(({ name, bytes, rows }) => [
    name,
    formatWhole(rows),
    formatWhole(bytes),
    perNotification(bytes),
  ])
  bench.print(`\nbytes on disk of ${formatWhole(notifications)} notifications, with users and calls`)
  bench.print(alignColumns([['table with indexes', 'rows', 'bytes', 'bytes per notification'], ...table]))

  const size = statSync(file).size
  const callBytes = (part: TableSize): number => {
    if (part.name === 'events') return part.bytes * (call_events?.part ?? 0)
    return CALL_TABLES.includes(part.name) ? part.bytes : 0
  }
  const notification_bytes = tables.reduce((sum, part) => sum - callBytes(part), size)
  return [
    atMost(
      'bytes on disk per notification, users and calls included',
      size / notifications,
      'bytes',
      MAX_BYTES,
    ),
    atMost('bytes on disk per notification', notification_bytes / notifications, 'bytes', MAX_BYTES),
  ]
}
