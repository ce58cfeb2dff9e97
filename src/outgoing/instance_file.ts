/**
 * The file `instance` beside the database names the instance that the database belongs to. A database without its line
 * is a copy. The file is not part of a backup.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncToDisk } from '../store/backup/copies.ts'
import { textAt } from '../store/disk/paths.ts'

const NAME = 'instance'
const LINE = /^(ins_[0-9a-f]{16}) (.+)$/
const COMMENT = `# Windfall recognizes a copied database by this file. Move it together with the database; do not copy it.
`

/** Opens the line of the database file `database`. Several databases may share a folder. */
export function openInstanceFile(database: string) {
  const file = join(dirname(database), NAME)
  const name = basename(database)

  function idsByName(): Map<string, string> {
    const lines = (textAt(file) ?? '').split('\n')
    return new Map(
      lines.flatMap((line) => {
        const [, id = '', database = ''] = LINE.exec(line) ?? []
        return id === '' ? [] : [[database, id] as const]
      }),
    )
  }

  /** The id that the file has for this database; null if there is none. */
  const read = (): string | null => idsByName().get(name) ?? null

  /** Writes the id of this database, durably. The lines of other databases are kept. */
  async function write(id: string): Promise<void> {
    const ids = idsByName().set(name, id)
    const text = COMMENT + [...ids].map(([database, one]) => `${one} ${database}\n`).join('')
    writeFileSync(`${file}.partial`, text, { mode: 0o600, flush: true })
    renameSync(`${file}.partial`, file)
    await syncToDisk(dirname(file))
  }

  return { read, write }
}
