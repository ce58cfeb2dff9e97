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

/** The columns that are lists, as JSON. */
const LISTS = ['apps', 'types', 'header_names'] as const

/**
 * An endpoint. schema.sql documents the fields. `unreadable`: the stored text of lists that cannot be read, which are empty
 * here. Nothing is sent to such an endpoint until they are set again.
 */
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
  unreadable: Readonly<Partial<Record<(typeof LISTS)[number], string>>>
}

type Row = Omit<Endpoint, (typeof LISTS)[number] | 'is_ordered' | 'unreadable'> & {
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

  /** Changes some fields of an endpoint. Lists that cannot be read stay as they are stored, unless they are among them. */
  function change(endpoint: Endpoint, fields: Partial<Endpoint>): void {
    const unreadable = { ...endpoint.unreadable }
    for (const list of LISTS) if (fields[list] !== undefined) delete unreadable[list]
    put({ ...endpoint, ...fields, unreadable })
  }

  const setProgress = (id: string, progress: Progress): void => void updateProgress.run({ ...progress, id })

  const moveCursor = (id: string, cursor: number): void => void updateCursor.run(cursor, id)

  return { list, get, put, change, setProgress, moveCursor }
}

/** The lists of an endpoint that cannot be read; null if all can be. */
export const unreadableLists = ({ unreadable }: Pick<Endpoint, 'unreadable'>): string[] | null => {
  const lists = Object.keys(unreadable)
  return lists.length === 0 ? null : lists
}

/** A stored list; undefined if it is none. */
function listOf(json: string | null): readonly string[] | null | undefined {
  if (json === null) return null
  try {
    const list: unknown = JSON.parse(json)
    return Array.isArray(list) && list.every((one) => typeof one === 'string') ? list : undefined
  } catch {
    return undefined
  }
}

const jsonOf = (list: readonly string[] | null): string | null =>
  list === null ? null : JSON.stringify(list)

function endpointOf(row: Row): Endpoint {
  const unreadable: Record<string, string> = {}
  const read = (name: (typeof LISTS)[number]): readonly string[] | null => {
    const list = listOf(row[name])
    if (list === undefined) unreadable[name] = row[name] ?? ''
    return list === undefined ? [] : list
  }
  const [apps, types, header_names] = [read('apps'), read('types'), read('header_names') ?? []]
  return { ...row, apps, types, header_names, is_ordered: row.is_ordered === 1, unreadable }
}

function rowOf({ unreadable, ...endpoint }: Endpoint): Row {
  const { apps, types, header_names, is_ordered } = endpoint
  return {
    ...endpoint,
    apps: unreadable.apps ?? jsonOf(apps),
    types: unreadable.types ?? jsonOf(types),
    header_names: unreadable.header_names ?? JSON.stringify(header_names),
    is_ordered: is_ordered ? 1 : 0,
  }
}
