/** The stored endpoints. All writing functions must run inside a unit of work. */
import type { Store } from '../../store/store.ts'

/** events: Windfall’s events. apple: Apple’s notifications as they came. */
export type EndpointKind = 'events' | 'apple'

/** no_success: why an endpoint is failing. The others: why it is paused or disabled. */
export type StateReason =
  | 'no_success'
  | 'five_days'
  | 'owner'
  | 'gone_410'
  | 'secret_unreadable'
  | 'config_removed'

/** An endpoint. schema.sql documents the fields. */
export type Endpoint = {
  id: string
  organization_id: string
  name: string
  kind: EndpointKind
  url: string
  /** App ids; null is all apps. */
  apps: readonly string[] | null
  environment: string | null
  /** Event types; null is the default types. */
  types: readonly string[] | null
  is_ordered: boolean
  /** The most requests in a second; null is no limit. */
  max_per_second: number | null
  /** Sealed. */
  headers: string | null
  header_names: readonly string[]
  source: string
  state: 'active' | 'failing' | 'paused' | 'disabled'
  reason: StateReason | null
  state_since: number
  cursor: number
  failures: number
  probes: number
  down_ms: number
  next_probe_at: number | null
  hold_until_at: number | null
  gone_at: number | null
  last_success_at: number | null
  last_failure_at: number | null
  created_at: number
  deleted_at: number | null
  default_set: number
}

type Lists = 'apps' | 'types' | 'header_names' | 'is_ordered'
type Row = Omit<Endpoint, Lists> & {
  apps: string | null
  types: string | null
  header_names: string
  is_ordered: number
}

export type Endpoints = ReturnType<typeof openEndpoints>

/** The columns that attempts change. */
const PROGRESS_COLUMNS = [
  'state',
  'reason',
  'state_since',
  'failures',
  'probes',
  'down_ms',
  'next_probe_at',
  'hold_until_at',
  'gone_at',
  'last_success_at',
  'last_failure_at',
] as const

const COLUMNS = [
  'id',
  'organization_id',
  'name',
  'kind',
  'url',
  'apps',
  'environment',
  'types',
  'is_ordered',
  'max_per_second',
  'headers',
  'header_names',
  'source',
  'cursor',
  'created_at',
  'deleted_at',
  'default_set',
  ...PROGRESS_COLUMNS,
] as const

/** The fields of an endpoint that attempts change. */
export type Progress = Pick<Endpoint, (typeof PROGRESS_COLUMNS)[number]>

/** Opens the endpoints. */
export function openEndpoints(store: Pick<Store, 'prepare'>) {
  const selectAll = store.prepare<[], Row>(
    'select * from endpoints where deleted_at is null order by created_at, id',
  )
  const selectById = store.prepare<[string], Row>('select * from endpoints where id = ?')
  const upsert = store.prepare<Row>(`
    insert into endpoints (${COLUMNS.join(', ')}) values (${COLUMNS.map((name) => `:${name}`).join(', ')})
    on conflict (id) do update set ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`)
  const updateProgress = store.prepare<Progress & { id: string }>(
    `update endpoints set ${PROGRESS_COLUMNS.map((name) => `${name} = :${name}`).join(', ')} where id = :id`,
  )
  const updateCursor = store.prepare<[number, string]>('update endpoints set cursor = ? where id = ?')

  /** All endpoints that are not deleted, oldest first. */
  const list = (): Endpoint[] => selectAll.all().map(endpointOf)

  /** An endpoint, also a deleted one; null if there is none. */
  function get(id: string): Endpoint | null {
    const row = selectById.get(id)
    return row ? endpointOf(row) : null
  }

  /** Inserts or replaces an endpoint. */
  const put = (endpoint: Endpoint): void => void upsert.run(rowOf(endpoint))

  /** Changes some fields of an endpoint. */
  const change = (endpoint: Endpoint, fields: Partial<Endpoint>): void => put({ ...endpoint, ...fields })

  const setProgress = (id: string, progress: Progress): void => void updateProgress.run({ ...progress, id })

  const moveCursor = (id: string, cursor: number): void => void updateCursor.run(cursor, id)

  return { list, get, put, change, setProgress, moveCursor }
}

const listOf = (json: string | null): readonly string[] | null =>
  json === null ? null : (JSON.parse(json) as string[])
const jsonOf = (list: readonly string[] | null): string | null =>
  list === null ? null : JSON.stringify(list)

function endpointOf(row: Row): Endpoint {
  const { apps, types, header_names, is_ordered } = row
  return {
    ...row,
    apps: listOf(apps),
    types: listOf(types),
    header_names: listOf(header_names) ?? [],
    is_ordered: is_ordered === 1,
  }
}

function rowOf(endpoint: Endpoint): Row {
  const { apps, types, header_names, is_ordered } = endpoint
  return {
    ...endpoint,
    apps: jsonOf(apps),
    types: jsonOf(types),
    header_names: JSON.stringify(header_names),
    is_ordered: is_ordered ? 1 : 0,
  }
}
