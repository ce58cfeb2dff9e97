/** Searches a database for a text: every column of every table, unpacked bodies, and the bytes of its files. */
import { existsSync, readFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import type { Windfall } from '../../src/app.ts'
import { decodeBody } from '../../src/events/codec.ts'
import type { Store } from '../../src/store/store.ts'
import { rowsOf } from '../helpers.ts'

/** Tables with data of a user or of their erasure. Every other table is the ledger's. */
const PERSONAL = [
  'users',
  'links',
  'link_history',
  'events',
  'erasures',
  'tombstones',
  'settings',
  'row_changes',
]

const tablesOf = (store: Store): string[] =>
  store
    .prepare<[], { name: string }>("select name from sqlite_schema where type = 'table' order by name")
    .all()
    .map(({ name }) => name)

/** All rows that an erasure must not change, and the events that must remain. Waits for figures that are due. */
export async function anonymousRows({ store, metrics }: Windfall): Promise<Record<string, string[]>> {
  await metrics.whenCurrent()
  const others = tablesOf(store).filter((name) => !PERSONAL.includes(name) && !name.startsWith('sqlite_'))
  const events = rowsOf(store, 'events', ['body', 'cause'])
  return { ...Object.fromEntries(others.map((name) => [name, rowsOf(store, name)])), events }
}

/** The places that contain one of `texts`, as `table.column: text` or `file: text`. */
export function tracesOf(store: Store, texts: readonly string[]): string[] {
  return [...tablesOf(store).flatMap((table) => inTable(store, table, texts)), ...inFiles(store.file, texts)]
}

function inTable(store: Store, table: string, texts: readonly string[]): string[] {
  const rows = store.prepare<[], Record<string, unknown>>(`select * from "${table}"`).all()
  return rows.flatMap((row) =>
    Object.entries(row).flatMap(([column, value]) => {
      const bytes = column === 'body' && Buffer.isBuffer(value) ? unpacked(table, value) : bytesOf(value)
      return inBytes(bytes, texts).map((text) => `${table}.${column}: ${text}`)
    }),
  )
}

/** The text of a compressed body. */
function unpacked(table: string, body: Buffer): Buffer {
  if (table === 'events') return Buffer.from(JSON.stringify(decodeBody(body)))
  return table === 'deliveries' ? inflateRawSync(body) : body
}

const inFiles = (file: string, texts: readonly string[]): string[] =>
  ['', '-wal', '-shm']
    .map((suffix) => file + suffix)
    .filter(existsSync)
    .flatMap((path) => inBytes(readFileSync(path), texts).map((text) => `${path}: ${text}`))

const bytesOf = (value: unknown): Buffer => (Buffer.isBuffer(value) ? value : Buffer.from(String(value)))

/** The text, and its JSON form. */
const inBytes = (bytes: Buffer, texts: readonly string[]): string[] =>
  texts.filter((text) => bytes.includes(text) || bytes.includes(JSON.stringify(text).slice(1, -1)))
