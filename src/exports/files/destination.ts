/** What receives the rows of an export: a folder of text files, or a SQLite file. */
import type { Cell, ExportTable } from '../tables/table.ts'
import type { Manifest } from './manifest.ts'

/** Where rows of one kind go: those of a table, or the keys of its deleted rows. */
export type RowTarget = Readonly<{
  /** The name in the manifest. */
  name: string
  write: (rows: readonly (readonly Cell[])[]) => void
  end: () => void
}>

/** The columns of a target. `key` are those that identify a row. */
export type TargetColumns = Pick<ExportTable, 'columns' | 'key'>

export type Destination = Readonly<{
  /** Opens a target; `name` is that of a table. */
  open: (name: string, columns: TargetColumns) => RowTarget
  /** Stores the manifest, and makes everything durable. The destination has its name only from then on. */
  finish: (manifest: Manifest) => void
  /** Deletes what was written. */
  discard: () => void
}>
