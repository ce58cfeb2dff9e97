/** The progress of imports from files, so that an interrupted import continues where it was. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openSerial } from '../../limiter.ts'
import type { Store } from '../../store/store.ts'
import type { ImportOutcome, LinkImport } from './link_import.ts'

/** The state of an import. Counts are those of the rows done. */
export type FileImport = {
  id: string
  file_name: string
  rows_done: number
  linked: number
  moved: number
  unchanged: number
  refused: number
  started_at: number
  finished_at: number | null
}

/** The rows that follow the first `from` rows, and the only organization whose apps may occur; null for all. */
type Part = { from: number; rows: readonly unknown[]; organization_id: string | null }

const ADVANCE = `
  update link_imports set rows_done = rows_done + :rows, linked = linked + :linked, moved = moved + :moved,
    unchanged = unchanged + :unchanged, refused = refused + :refused
  where id = :id`

type Deps = { store: Pick<Store, 'prepare' | 'commit'>; clock: Clock; linkImport: LinkImport }

/** Opens the imports from files. */
export function openFileImports({ store, clock, linkImport }: Deps) {
  const find = store.prepare<[string], FileImport>('select * from link_imports where id = ?')
  const insert = store.prepare<[string, string, number]>(
    'insert into link_imports (id, file_name, rows_done, linked, moved, unchanged, refused, started_at) values (?, ?, 0, 0, 0, 0, 0, ?)',
  )
  const advance = store.prepare<object>(ADVANCE)
  const setFinished = store.prepare<[number, string]>('update link_imports set finished_at = ? where id = ?')
  const remove = store.prepare<[string]>('delete from link_imports where id = ?')

  /** Rows whose command was interrupted are still added: the next command begins after them. */
  const parts = openSerial()

  function get(id: string): FileImport {
    const found = find.get(id)
    if (!found) throw new Error(`no import ${id} was begun`)
    return found
  }

  /** The import `id`, which begins now unless it was begun before. `isAgain` begins it from the first row. */
  const begin = (id: string, file_name: string, isAgain: boolean): Promise<FileImport> =>
    parts.run(() =>
      store.commit(() => {
        if (isAgain) remove.run(id)
        if (!find.get(id)) insert.run(id, file_name, clock())
        return get(id)
      }),
    )

  /**
   * Imports the rows that follow the first `from` rows. The progress is committed together with the rows.
   *
   * @throws Refusal 409 `import_moved_on` if another number of rows is done, as when two commands import one file.
   */
  const addRows = (id: string, part: Part): Promise<ImportOutcome> =>
    parts.run(async () => {
      const { rows_done } = get(id)
      const { from, rows, organization_id } = part
      if (rows_done !== from)
        throw new Refusal(
          409,
          'import_moved_on',
          `${rows_done} rows are done, not ${from}: another command imports this file. Run the import again`,
        )
      const record = (count: number, { faults: _, ...effects }: ImportOutcome): void =>
        void advance.run({ id, rows: count, ...effects })
      return linkImport.run(rows, { organization_id, first: from, record })
    })

  /** Marks the import as complete. `note` runs in the same commit. */
  const finish = (id: string, note: (finished: FileImport) => void): Promise<FileImport> =>
    store.commit(() => {
      setFinished.run(clock(), id)
      const finished = get(id)
      note(finished)
      return finished
    })

  return { begin, addRows, finish }
}
