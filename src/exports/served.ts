/** The exports of the serving process, which also keeps the change log. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Erasures } from '../attribution/erasure/erasure.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import { openChangeLog } from './change_log.ts'
import { openExports } from './exports.ts'
import { buildSqliteFile } from './files/sqlite_build.ts'
import type { ExportScope } from './rows.ts'

type Deps = { store: Store; clock: Clock; erasures: Pick<Erasures, 'onErase'> }
type SqliteRequest = Readonly<{ after: string | null; scope: ExportScope; signal: AbortSignal }>

export type ServedExports = ReturnType<typeof openServedExports>

/** Opens the exports. `prune` deletes old rows of the change log. */
export function openServedExports({ store, clock, erasures }: Deps) {
  const changeLog = openChangeLog(store, clock)
  erasures.onErase(changeLog.userErased)
  const exports = openExports(store)
  const prefix = `${store.file}.export.partial-`
  removeLeftovers(prefix)

  /**
   * An export as a SQLite file, built beside the database in a process that ends when `signal` aborts. The file has no
   * name any more; the caller closes it.
   *
   * @throws Refusal 400 `invalid_cursor`, 410 `cursor_expired`, 507 `no_room`; Error.
   */
  async function sqliteFile({ after, scope, signal }: SqliteRequest): Promise<FileHandle> {
    exports.begin(after)
    store.assertFreeSpaceFor(store.bytes())
    const folder = mkdtempSync(prefix)
    const to = join(folder, 'export.sqlite')
    try {
      await buildSqliteFile({ file: store.file, to, after, scope, at: clock() }, signal)
      return await open(to)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  return { ...exports, sqliteFile, prune: changeLog.prune }
}

/** Deletes the files of exports that a crash interrupted. */
function removeLeftovers(prefix: string): void {
  const folder = dirname(prefix)
  for (const name of readdirSync(folder))
    if (name.startsWith(basename(prefix))) rmSync(join(folder, name), { recursive: true, force: true })
}
