/** Writes an export to a folder: a file of CSV or JSON lines for each table, and the manifest. */
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { renameDurably, syncPath } from '../../store/disk/durable_files.ts'
import { rowWriter, type TextFormat } from '../formats.ts'
import type { Destination, RowTarget, TargetColumns } from './destination.ts'
import { MANIFEST } from './manifest.ts'

/** Opens the folder `path`, which must not exist. Its files are readable only by their owner. */
export function openTextFiles(path: string, format: TextFormat): Destination {
  const staged = `${path}.partial`
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(staged, { mode: 0o700 })

  function open(table: string, { columns }: TargetColumns): RowTarget {
    const name = `${table}.${format}`
    const file = openSync(join(staged, name), 'wx', 0o600)
    const { head, line } = rowWriter(
      format,
      columns.map((column) => column.name),
    )
    writeAll(file, head)
    return {
      name,
      write: (rows) => writeAll(file, rows.map(line).join('')),
      end() {
        fsyncSync(file)
        closeSync(file)
      },
    }
  }

  return {
    open,
    finish(manifest) {
      const text = `${JSON.stringify(manifest, null, 2)}\n`
      writeFileSync(join(staged, MANIFEST.file), text, { mode: 0o600, flush: true })
      syncPath(staged)
      renameDurably(staged, path)
    },
    discard: () => rmSync(staged, { recursive: true, force: true }),
  }
}

/** Writes a whole text; a single write may be partial. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
