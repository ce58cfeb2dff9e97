/** The manifest of an export: what it contains, and where the next one continues. */
import type { TextFormat } from '../formats.ts'

export const FILE_FORMATS = ['jsonl', 'csv', 'sqlite'] as const satisfies readonly (TextFormat | 'sqlite')[]
export type FileFormat = (typeof FILE_FORMATS)[number]

/**
 * A table of an export. With the mode `all`, the rows replace a copy; with `changes`, a copy first deletes the rows with
 * the keys of `deleted_in` and then stores the rows of `rows_in` by `key`. `rows_in` and `deleted_in` are files of the
 * folder, or tables of the SQLite file; `deleted_in` is null without deleted rows.
 */
export type ManifestTable = Readonly<{
  name: string
  mode: 'all' | 'changes'
  key: readonly string[]
  rows_in: string
  rows: number
  deleted_in: string | null
  deleted: number
}>

/**
 * `cursor` is the position at the start, so the next export contains what changed during this one. `feed_seq` is the
 * newest seq of the feed at the start and at the end. `after` and `organization` are null for all. Instants are Unix
 * time in milliseconds.
 */
export type Manifest = Readonly<{
  windfall: string
  format: FileFormat
  organization: string | null
  started_at: number
  finished_at: number
  after: string | null
  cursor: string
  feed_seq: Readonly<{ start: number; end: number }>
  tables: readonly ManifestTable[]
}>

/** Where a manifest is: a file of the folder, or a table of the SQLite file. */
export const MANIFEST = { file: 'manifest.json', table: 'export_manifest' } as const
