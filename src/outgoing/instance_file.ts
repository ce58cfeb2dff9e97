/**
 * The file `instance` beside the database names the instance that the database belongs to. A database without its line
 * is a copy. The file is not part of a backup. Lines are only added, so that servers of several databases in one folder
 * do not remove each other's; the last line of a database counts.
 */
import { appendFileSync } from 'node:fs'
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

  /** The id that the file has for this database; null if there is none. */
  function read(): string | null {
    const lines = (textAt(file) ?? '').split('\n').map((line) => LINE.exec(line))
    return lines.findLast((line) => line?.[2] === name)?.[1] ?? null
  }

  /** Writes the id of this database, durably. */
  async function write(id: string): Promise<void> {
    const before = textAt(file)
    // A crash can leave the beginning of a line.
    const separator = before === null ? COMMENT : before.endsWith('\n') ? '' : '\n'
    appendFileSync(file, `${separator}${id} ${name}\n`, { mode: 0o600, flush: true })
    await syncToDisk(dirname(file))
  }

  return { read, write }
}
