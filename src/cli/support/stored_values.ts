/**
 * Reads the values of the database that a text about the installation can name and a support bundle must not: ids of Apple
 * keys and teams, vendor numbers, and where alerts go. Secrets are sealed or hashed there, so no such text contains them.
 */
import type { Reader } from '../../store/reader.ts'

type Row = Readonly<Record<string, string | null>>

/** The settings of a channel name its receiver; the name of a device often names its owner. */
const QUERIES = [
  'select key_id, issuer_id, vendor_numbers from apple_keys',
  'select team_id from apps',
  "select settings, iif(kind = 'web_push', name, null) as device from alert_channels",
]

/** The values; none without a database. JSON is decoded. */
export const storedValues = (reader: Reader | null): unknown[] =>
  reader === null
    ? []
    : QUERIES.flatMap((sql) => rowsOf(reader, sql)).flatMap((row) => Object.values(row).map(decoded))

/** The rows; none if the database is older than the table or cannot be read. Then no check has read it either. */
function rowsOf(reader: Reader, sql: string): Row[] {
  try {
    return reader.prepare<[], Row>(sql).all()
  } catch {
    return []
  }
}

const decoded = (value: string | null): unknown =>
  value !== null && /^[[{]/.test(value) ? JSON.parse(value) : value
