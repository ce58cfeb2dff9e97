/** Marks lineages due and reports how far an organization’s figures lag behind its facts. */
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import type { Generation, Generations } from './generations.ts'
import { type Mark, type Marks, type Numbered, RANK } from './marks.ts'

/** The number of due lineages, the instant since which the first has been due, and the number of failed lineages. */
type Backlog = { lineages: number; since: number | null; failed: number }

/** With more marks than this, `backlog` does not filter by app and returns the numbers of the whole organization. */
const SCAN_LIMIT = 5_000

type Deps = { store: Store; clock: Clock; apps: Apps; generations: Generations; marks: Marks }

export type Due = ReturnType<typeof openDue>

export function openDue({ store, clock, apps, generations, marks }: Deps) {
  const backlogOfAll = store.prepare<[number], Backlog>(`
    select count(*) filter (where failed_at is null) as lineages, min(since) filter (where failed_at is null) as since,
      count(*) filter (where failed_at is not null) as failed
    from metric_due where generation = ?`)
  const byApps = store.prepare<[number, string], Backlog>(`
    select count(*) filter (where failed_at is null) as lineages, min(since) filter (where failed_at is null) as since,
      count(*) filter (where failed_at is not null) as failed
    from metric_due d join metric_lineages l on l.id = d.lineage_id
    where d.generation = ? and l.app_id in (select value from json_each(?))`)
  // Cached, because many requests need this while thousands of lineages are due.
  const cachedBacklog = store.cached(['metric_due'], (id) => backlogOfAll.get(Number(id)) ?? NOTHING)
  const exceedsScanLimit = store.prepare<[number], { one: number }>(
    `select 1 as one from metric_due where generation = ? limit 1 offset ${SCAN_LIMIT}`,
  )
  const backlogByTime = store.prepare<[number, number], { lineages: number; since: number | null }>(`
    select count(*) as lineages, min(due_at) as since from metric_counted indexed by metric_counted_due
    where due_at <= ? and generation = ?`)
  const marksOfApps = store.prepare<[number, string, number], Mark>(`
    select d.generation, d.lineage_id from metric_due d join metric_lineages l on l.id = d.lineage_id
    where d.generation = ? and d.failed_at is null and l.app_id in (select value from json_each(?)) limit ?`)
  const isMarked = store.prepare<[number, number], { one: number }>(
    'select 1 as one from metric_due where generation = ? and lineage_id = ? and failed_at is null',
  )
  const isDueByTime = store.prepare<[number, number, number], { one: number }>(
    'select 1 as one from metric_counted where generation = ? and lineage_id = ? and due_at <= ?',
  )

  const organizationOf = (app_id: string): string => apps.get(app_id)?.organization_id ?? ''

  /**
   * Marks a lineage due in each generation of its organization that contains the lineage and is not frozen, or only in
   * the generation being built. Returns false if there is no such generation. Runs inside a unit of work.
   */
  function mark({ id, app_id }: Numbered, rank: number, which: 'all' | 'making' = 'all'): boolean {
    const since = clock()
    const targets = generations
      .ofOrganization(organizationOf(app_id))
      .filter((one) => has(one, id) && generations.isLive(one) && (which === 'all' || one.state === which))
    for (const { id: generation, state } of targets)
      marks.mark({ generation, lineage_id: id, rank: state === 'making' ? RANK.next : rank, since })
    return targets.length > 0
  }

  /** Whether a generation contains a lineage. A lineage that it does not contain yet is due without a mark. */
  const has = ({ made_up_to }: Generation, lineage_id: number): boolean =>
    made_up_to === null || lineage_id <= made_up_to

  /** The backlog of a generation, for some of its organization’s apps or for all apps (null). */
  function backlog({ id }: Generation, app_ids: readonly string[] | null): Backlog {
    const total = cachedBacklog(String(id))
    const isFew = total.lineages + total.failed <= SCAN_LIMIT
    const marked = app_ids === null || !isFew ? total : (byApps.get(id, JSON.stringify(app_ids)) ?? NOTHING)
    const overdue = backlogByTime.get(clock(), id) ?? NOTHING
    const instants = [marked.since, overdue.since].filter((one) => one !== null)
    return {
      lineages: marked.lineages + overdue.lineages,
      since: instants.length === 0 ? null : Math.min(...instants),
      failed: marked.failed,
    }
  }

  /** Up to `limit` marks of some apps in a generation; empty if the generation has too many marks to filter. */
  const marksOf = ({ id }: Generation, app_ids: readonly string[], limit: number): Mark[] =>
    exceedsScanLimit.get(id) !== undefined ? [] : marksOfApps.all(id, JSON.stringify(app_ids), limit)

  /** Whether a lineage is due in a generation. A failed lineage is not due. */
  const isDue = (generation: number, lineage_id: number): boolean =>
    isMarked.get(generation, lineage_id) !== undefined ||
    isDueByTime.get(generation, lineage_id, clock()) !== undefined

  return { mark, backlog, marksOf, isDue, organizationOf }
}

const NOTHING: Backlog = { lineages: 0, since: null, failed: 0 }
