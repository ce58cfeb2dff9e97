/** Replays: past events that are sent again to an endpoint. They survive restarts and can be stopped. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { Deliveries } from '../deliveries/deliveries.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import type { Filling } from '../sending/filling.ts'
import type { ReplayFilter, ReplayRange, Selection } from './selection.ts'

type Row = ReplayRange & {
  id: string
  endpoint_id: string
  /** JSON of a filter. */
  filter: string
  cursor: number
  made: number
  state: 'running' | 'done' | 'stopped'
  asked_by: string
  created_at: number
  finished_at: number | null
}

/** A replay with its progress. `progress`: the part of the range that became deliveries, from 0 to 1. */
export type Replay = Pick<Row, 'id' | 'endpoint_id' | 'state' | 'made' | 'created_at' | 'finished_at'> & {
  progress: number
  delivered: number
  failed: number
  waiting: number
}

/**
 * What waits of a replay. `untried`: about to be tried for the first time. `refused`: tried without success, and tried again,
 * first at `next_attempt_at`. The others wait behind an earlier event of their key.
 */
type Waits = { untried: number; refused: number; next_attempt_at: number | null }

/** What a replay would send: `matching` counts at most 100,000. */
type Preview = { matching: number; is_capped: boolean; first_at: number | null; last_at: number | null }

export type Replays = ReturnType<typeof openReplays>

type Deps = { store: Store; clock: Clock; deliveries: Deliveries; filling: Filling; selection: Selection }

const MAX_COUNTED = 100_000
const MAX_LISTED = 20
/** Replays leave room for live events among the rows of an endpoint that are about to be tried. */
const MAX_PENDING = 500
const BATCH = 32

/** Opens the replays. */
export const openReplays = (deps: Deps) => ({
  ...openRecords(deps),
  ...openWaits(deps),
  ...openPreviews(deps.selection),
  ...openReplayFilling(deps),
})

/** Starts, stops and lists replays. */
function openRecords({ store, clock, deliveries, selection }: Deps) {
  const insert = store.prepare<Row>(`
    insert into replays ( id,  endpoint_id,  source,  filter,  first,  cursor,  until,  made,  state,  asked_by,  created_at,  finished_at)
    values              (:id, :endpoint_id, :source, :filter, :first, :cursor, :until, :made, :state, :asked_by, :created_at, :finished_at)`)
  const selectById = store.prepare<[string], Row>('select * from replays where id = ?')
  const selectNewest = store.prepare<[string, number], Row>(
    'select * from replays where endpoint_id = ? order by created_at desc, rowid desc limit ?',
  )
  const replayOf = openProgress(store)
  // A replay is done when all its deliveries are made. It can be stopped while some of them wait.
  const finish = store.prepare<[string, number, string]>(`
    update replays set state = ?, finished_at = ? where id = ? and (state = 'running'
      or exists (select 1 from deliveries where replay_id = replays.id and state = 'waiting'))`)

  const stopRunning = store.prepare<[number, string]>(
    "update replays set state = 'stopped', finished_at = ? where endpoint_id = ? and state = 'running'",
  )

  /** Starts a replay. Must run inside a unit of work. @throws Refusal like `rangeOf` */
  function start(endpoint: Endpoint, filter: ReplayFilter, asked_by: string): Replay {
    const range = selection.rangeOf(endpoint, filter)
    const { id: endpoint_id } = endpoint
    const ids = { id: newId('rep'), endpoint_id, filter: JSON.stringify(filter) }
    const dates = { created_at: clock(), finished_at: null }
    const row: Row = { ...ids, ...range, cursor: range.first, made: 0, state: 'running', asked_by, ...dates }
    insert.run(row)
    return replayOf(row)
  }

  /** Stops a replay and skips its waiting deliveries. Idempotent. Must run inside a unit of work. */
  function stop(id: string): Replay {
    const now = clock()
    const { changes } = finish.run('stopped', now, id)
    if (changes > 0) deliveries.skipReplay(id, 'The replay was stopped.', now)
    return get(id)
  }

  /** Stops the replays of an endpoint; it does not change their deliveries. Must run inside a unit of work. */
  const stopAll = (endpoint_id: string): void => void stopRunning.run(clock(), endpoint_id)

  /** @throws Refusal 404 `unknown_replay` */
  function get(id: string): Replay {
    const row = selectById.get(id)
    if (!row) throw new Refusal(404, 'unknown_replay', `there is no replay ${id.slice(0, 40)}`)
    return replayOf(row)
  }

  /** The newest replays of an endpoint, newest first. */
  const list = (endpoint_id: string): Replay[] => selectNewest.all(endpoint_id, MAX_LISTED).map(replayOf)

  return { start, stop, stopAll, get, list }
}

/** Returns a function that adds the progress to the row of a replay. */
function openProgress(store: Store): (row: Row) => Replay {
  const countByState = store.prepare<[string], { state: string; count: number }>(
    'select state, count(*) as count from deliveries where replay_id = ? group by state',
  )
  return ({ id, endpoint_id, state, made, first, cursor, until, created_at, finished_at }) => {
    const counts = new Map(countByState.all(id).map((row) => [row.state, row.count]))
    const count = (name: string): number => counts.get(name) ?? 0
    const progress = until <= first ? 1 : (cursor - first) / (until - first)
    const results = { delivered: count('delivered'), failed: count('failed'), waiting: count('waiting') }
    return { id, endpoint_id, state, made, progress, ...results, created_at, finished_at }
  }
}

/** Counts what waits of replays. */
function openWaits({ store }: Deps) {
  const selectWaits = store.prepare<[string], Waits>(`
    select count(*) filter (where attempts = 0 and next_at is not null) as untried,
      count(*) filter (where attempts > 0) as refused, min(next_at) filter (where attempts > 0) as next_attempt_at
    from deliveries where replay_id = ? and state = 'waiting'`)
  const waitsOf = (id: string): Waits => selectWaits.get(id) as Waits
  return { waitsOf }
}

/** Counts what replays would send. */
function openPreviews(selection: Selection) {
  /** @throws Refusal like `rangeOf` */
  async function preview(endpoint: Endpoint, filter: ReplayFilter): Promise<Preview> {
    const range = selection.rangeOf(endpoint, filter)
    const counted: Preview = { matching: 0, is_capped: false, first_at: null, last_at: null }
    for (let after = range.first; after < range.until && !counted.is_capped; ) {
      await yieldToEventLoop()
      const { items, reached } = selection.read(endpoint, filter, range, { after, limit: 1_000 })
      counted.matching += items.length
      counted.first_at ??= items[0]?.occurred_at ?? null
      counted.last_at = items.at(-1)?.occurred_at ?? counted.last_at
      counted.is_capped = counted.matching >= MAX_COUNTED
      after = reached
    }
    return counted
  }

  return { preview }
}

/** Makes the deliveries of running replays. */
function openReplayFilling({ store, clock, deliveries, filling, selection }: Deps) {
  const selectRunning = store.prepare<[string], Row>(
    "select * from replays where endpoint_id = ? and state = 'running' order by created_at, rowid limit 1",
  )
  const advance = store.prepare<Pick<Row, 'id' | 'cursor' | 'made' | 'state' | 'finished_at'>>(`
    update replays set cursor = :cursor, made = :made, state = :state, finished_at = :finished_at where id = :id`)

  /** Makes the next deliveries of the oldest running replay. Resolves to whether anything was read. */
  async function fillOne(endpoint: Endpoint): Promise<boolean> {
    const row = selectRunning.get(endpoint.id)
    if (!row) return false
    const limit = Math.min(BATCH, MAX_PENDING - deliveries.pending(endpoint.id, clock(), MAX_PENDING))
    if (limit <= 0) return false
    const filter = JSON.parse(row.filter) as ReplayFilter
    const { items, reached } = selection.read(endpoint, filter, row, { after: row.cursor, limit })
    const move = () => moveTo(row, Math.max(reached, row.cursor), items.length)
    if (items.length > 0) await filling.add(endpoint, { items, replay_id: row.id }, move)
    else await store.commit(move)
    return true
  }

  /** Moves the cursor of a replay, unless it was stopped since. */
  function moveTo(before: Row, cursor: number, count: number): boolean {
    const row = selectRunning.get(before.endpoint_id)
    if (row?.id !== before.id || row.cursor !== before.cursor) return false
    const isDone = cursor >= row.until
    const made = row.made + count
    const end = isDone
      ? ({ state: 'done', finished_at: clock() } as const)
      : { state: row.state, finished_at: null }
    advance.run({ id: row.id, cursor, made, ...end })
    return true
  }

  return { fillOne }
}
