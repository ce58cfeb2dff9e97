/** Stores the lineages with facts and the marks of those that are due. */
import type { LineageKey } from '../../ledger/ledger.ts'
import { bound, type Store } from '../../store/store.ts'

/** A lineage with its number in metric_lineages. */
export type Numbered = LineageKey & { id: number }

/** The order of recomputing: live facts, then backfill and bulk changes, then the next generation. */
export const RANK = { live: 0, bulk: 3, next: 4 } as const

export type Mark = { generation: number; lineage_id: number }
type MarkRow = Mark & { rank: number; since: number }
/** A lineage that could not be recomputed, and the reason. */
export type Failed = Mark & LineageKey & { failed_at: number; reason: string }

export type Marks = ReturnType<typeof openMarks>

export function openMarks(store: Store) {
  const lineage =
    'app_id = :app_id and environment = :environment and original_transaction_id = :original_transaction_id'
  const findId = store.prepare<LineageKey, { id: number }>(`select id from metric_lineages where ${lineage}`)
  const insert = store.prepare<LineageKey>(`
    insert into metric_lineages ( app_id,  environment,  original_transaction_id)
    values                      (:app_id, :environment, :original_transaction_id)`)
  const byId = store.prepare<[number], Numbered>('select * from metric_lineages where id = ?')
  const following = store.prepare<[number, number], Numbered>(
    `select * from metric_lineages where id > ${bound} order by id limit ${bound}`,
  )
  const count = store.prepare<[], number>('select count(*) from metric_lineages').pluck()
  // A new fact clears a failure, so that the lineage is retried.
  const put = store.prepare<MarkRow>(`
    insert into metric_due ( generation,  lineage_id,  rank,  since) values (:generation, :lineage_id, :rank, :since)
    on conflict (generation, lineage_id) do update set rank = min(rank, excluded.rank), failed_at = null, reason = null
    where rank > excluded.rank or failed_at is not null`)
  const clear = store.prepare<[number, number]>(
    'delete from metric_due where generation = ? and lineage_id = ?',
  )
  const fail = store.prepare<MarkRow & { failed_at: number; reason: string }>(`
    insert into metric_due ( generation,  lineage_id,  rank,  since,  failed_at,  reason)
    values                 (:generation, :lineage_id, :rank, :since, :failed_at, :reason)
    on conflict (generation, lineage_id) do update set failed_at = excluded.failed_at, reason = excluded.reason`)
  const next = store.prepare<[number, number], Mark>(`
    select generation, lineage_id from metric_due indexed by metric_due_next
    where failed_at is null and rank <= ${bound} order by rank, since limit ${bound}`)
  const dueByTime = store.prepare<[number, number], Mark>(`
    select c.generation, c.lineage_id from metric_counted c indexed by metric_counted_due
    where c.due_at <= ${bound} order by c.due_at limit ${bound}`)
  const hasMarks = store.prepare<[number], { one: number }>(
    'select 1 as one from metric_due where generation = ? and failed_at is null limit 1',
  )
  const failed = store.prepare<[number], Failed>(`
    select d.generation, d.lineage_id, d.failed_at, d.reason, app_id, environment, original_transaction_id
    from metric_due d indexed by metric_due_failed join metric_lineages l on l.id = d.lineage_id
    where d.failed_at is not null order by d.failed_at desc limit ?`)

  /** The number of a lineage, assigned on first use. Runs inside a unit of work. */
  const numberOf = (key: LineageKey): number => findId.get(key)?.id ?? Number(insert.run(key).lastInsertRowid)

  return {
    numberOf,
    byId: (id: number): Numbered | null => byId.get(id) ?? null,
    /** Lineages with a number above `after`, in order. */
    following: (after: number, limit: number): Numbered[] => following.all(after, limit),
    /** The number of lineages. */
    count: (): number => count.get() ?? 0,
    /** Marks a lineage due. Runs inside a unit of work. */
    mark: (one: MarkRow): void => void put.run(one),
    /** Deletes the mark of a lineage. Runs inside a unit of work. */
    clear: ({ generation, lineage_id }: Mark): void => void clear.run(generation, lineage_id),
    /** Records that a lineage could not be recomputed. Runs inside a unit of work. */
    fail: (one: MarkRow & { failed_at: number; reason: string }): void => void fail.run(one),
    /** Marks with a rank of at most `rank`, the most urgent first. */
    next: (rank: number, limit: number): Mark[] => next.all(rank, limit),
    /** Lineages whose figures changed by time alone up to `now`. */
    dueByTime: (now: number, limit: number): Mark[] => dueByTime.all(now, limit),
    /** Whether a generation has marks of lineages that did not fail. */
    hasMarks: (generation: number): boolean => hasMarks.get(generation) !== undefined,
    /** The lineages that could not be recomputed, the latest first. */
    failed: (limit: number): Failed[] => failed.all(limit),
  }
}
