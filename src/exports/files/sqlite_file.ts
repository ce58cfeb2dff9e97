/** Writes an export to a SQLite file: a table for each exported table, with its key, and the manifest. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { openConnection } from '../../store/disk/connection.ts'
import { renameDurably, syncPath } from '../../store/disk/durable_files.ts'
import type { Destination, RowTarget, TargetColumns } from './destination.ts'
import { MANIFEST } from './manifest.ts'

/** Opens the SQLite file `path`, which must not exist. It is readable only by its owner. */
export function openSqliteFile(path: string): Destination {
  const staged = `${path}.partial`
  rmSync(staged, { force: true })
  closeSync(openSync(staged, 'wx', 0o600))
  const db = openConnection(staged)
  // The file is made durable as a whole at the end, and deleted if that is not reached.
  db.pragma('journal_mode = off')
  db.pragma('synchronous = off')

  function open(name: string, { columns, key }: TargetColumns): RowTarget {
    const definitions = columns.map((column) => `${column.name} ${column.type}`)
    db.exec(`create table ${name} (${definitions.join(', ')}, primary key (${key.join(', ')})) strict`)
    // A row can be in two pages if its place changes between them. The later one is newer.
    const insert = db.prepare(`insert or replace into ${name} values (${columns.map(() => '?').join(', ')})`)
    return {
      name,
      write: db.transaction((rows) => {
        for (const row of rows) insert.run(...row)
      }),
      end: () => {},
    }
  }

  return {
    open,
    finish(manifest) {
      db.exec(`create table ${MANIFEST.table} (name text primary key, value text) strict`)
      const insert = db.prepare(`insert into ${MANIFEST.table} values (?, ?)`)
      for (const [name, value] of Object.entries(manifest))
        insert.run(name, typeof value === 'string' ? value : JSON.stringify(value))
      db.close()
      syncPath(staged)
      renameDurably(staged, path)
    },
    discard() {
      db.close()
      rmSync(staged, { force: true })
    },
  }
}
