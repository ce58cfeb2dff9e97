/** The formats of files with links: Windfall’s own, exports of RevenueCat and Adapty, and named columns. */
import { Refusal } from '../../errors.ts'

/** A row as the server takes it, or why it is left out. */
type ReadRow = { row: Record<string, unknown> } | { skipped: 'other_store' | 'sandbox' | 'no_user' }

type Cells = Readonly<Record<string, string>>

/** The columns that hold a field. Attributes are JSON. */
export type Columns = {
  app: string
  app_user_id: string
  original_transaction_id: string
  attributes: string
}
export const FIELDS = ['app', 'app_user_id', 'original_transaction_id', 'attributes'] as const

const OWN: Columns = {
  app: 'app',
  app_user_id: 'app_user_id',
  original_transaction_id: 'original_transaction_id',
  attributes: 'attributes',
}

/**
 * How rows of a file become rows of an import. `hasApp`: whether they name their app; otherwise `app` is the bundle id of
 * all.
 */
export type Format = { name: string; hasApp: boolean; read: (cells: Cells, app: string | null) => ReadRow }

/**
 * The format of a file with this header. `mapping` names the columns of fields, and then decides.
 *
 * @throws Refusal 400 `invalid_file` if the header fits no format, or lacks a column of `mapping`.
 */
export function formatOf(header: readonly string[], mapping: Partial<Columns>): Format {
  const has = (...names: string[]): boolean => names.every((name) => header.includes(name))
  const missing = Object.values(mapping).filter((name) => !has(name))
  if (missing.length > 0) throw unreadable(`the file has no column ${missing.join(', ')}`, header)
  if (Object.keys(mapping).length > 0) return byColumns('named columns', { ...OWN, ...mapping }, has)
  if (has('app_user_id', 'original_transaction_id')) return byColumns('Windfall', OWN, has)
  if (has('rc_last_seen_app_user_id_alias', 'original_store_transaction_id')) return REVENUECAT
  if (has('customer_user_id', 'original_transaction_id')) return ADAPTY
  throw unreadable(
    'the header needs the columns app_user_id and original_transaction_id, those of an export of RevenueCat or Adapty, or --map',
    header,
  )
}

const unreadable = (text: string, header: readonly string[]): Refusal =>
  new Refusal(400, 'invalid_file', `${text}. Columns found: ${header.join(', ')}`)

const byColumns = (name: string, columns: Columns, has: (column: string) => boolean): Format => ({
  name,
  hasApp: has(columns.app),
  read: (cells, app) => ({
    row: {
      app: cells[columns.app] || app,
      app_user_id: cells[columns.app_user_id] ?? '',
      original_transaction_id: cells[columns.original_transaction_id] ?? '',
      attributes: attributesIn(cells[columns.attributes]),
    },
  }),
})

/** RevenueCat’s scheduled data exports, versions 4 to 6 (revenuecat.com/docs/integrations/scheduled-data-exports). */
const REVENUECAT: Format = {
  name: 'RevenueCat',
  hasApp: false,
  read(cells, app) {
    const app_user_id = cells.rc_last_seen_app_user_id_alias ?? ''
    if (cells.store !== 'app_store' && cells.store !== 'mac_app_store') return { skipped: 'other_store' }
    if (cells.is_sandbox?.toLowerCase() === 'true') return { skipped: 'sandbox' }
    if (app_user_id === '' || app_user_id.startsWith('$RCAnonymousID:')) return { skipped: 'no_user' }
    return {
      row: {
        app,
        app_user_id,
        original_transaction_id: cells.original_store_transaction_id ?? '',
        attributes: valuesOf(attributesIn(cells.custom_subscriber_attributes)),
      },
    }
  },
}

/** Adapty’s exports of events to S3 (docs.adapty.io/docs/s3-exports). They have no attributes. */
const ADAPTY: Format = {
  name: 'Adapty',
  hasApp: false,
  read(cells, app) {
    if (cells.store !== 'app_store') return { skipped: 'other_store' }
    if (cells.environment?.toLowerCase() === 'sandbox') return { skipped: 'sandbox' }
    if (!cells.customer_user_id) return { skipped: 'no_user' }
    const { customer_user_id: app_user_id, original_transaction_id } = cells
    return { row: { app, app_user_id, original_transaction_id, attributes: null } }
  },
}

/** The JSON of a cell; null if it is empty. Text that is not JSON stays a text, which the server refuses by its line. */
function attributesIn(cell: string | undefined): unknown {
  if (cell === undefined || cell === '') return null
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}

/** RevenueCat writes `{"plan": {"value": "pro", "updated_at_ms": 1}}`. Values that are no scalar are left out. */
function valuesOf(attributes: unknown): unknown {
  if (typeof attributes !== 'object' || attributes === null) return attributes
  const entries = Object.entries(attributes).map(([name, one]): [string, unknown] => [
    name,
    typeof one === 'object' && one !== null && 'value' in one ? one.value : one,
  ])
  return Object.fromEntries(entries.filter(([, value]) => typeof value !== 'object'))
}
