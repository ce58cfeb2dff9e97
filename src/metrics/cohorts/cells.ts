/** Stores the sums from which cohorts are computed. */
import type { Environment } from '../../apple/payloads.ts'
import type { Store } from '../../store/store.ts'
import { ALWAYS, type Observed } from '../joined/days.ts'
import { monthOf, weekOf } from '../lineage/calendar.ts'
import { openSeriesIds } from '../series_ids.ts'
import type { CohortCell, CohortKind, CohortSeries } from './changes.ts'

/**
 * An app and environment in one generation. `observed`: the first days on which the ledger has any and all notifications of
 * the app; without it, all days are known.
 */
export type CohortScope = {
  generation: number
  app_id: string
  environment: Environment
  observed?: Observed
}
type SeriesKey = Omit<CohortScope, 'observed'> & CohortSeries
/**
 * A sum of one cohort at one position. `cohort`: the number of a day, week or month. `position`: the renewal, the days
 * since the first payment, or the outcome.
 */
export type CohortSum = Pick<
  CohortCell,
  'cohort' | 'position' | 'count' | 'charged_milli' | 'refunded_milli' | 'prorated_milli'
>
/** A sum of a series with a period. */
export type PeriodSum = CohortSum & { period: string }
type CohortSumQuery = {
  scopes: readonly CohortScope[]
  kind: CohortKind
  product_id: string
  storefront: string
  from: number
  until: number
}

export type CohortCellStore = ReturnType<typeof openCohortCells>

export function openCohortCells(store: Store) {
  const findId = store.prepare<SeriesKey, { id: number }>(`
    select id from cohort_series where generation = :generation and app_id = :app_id and environment = :environment and kind = :kind
      and product_id = :product_id and storefront = :storefront and period = :period`)
  const insert = store.prepare<SeriesKey>(`
    insert into cohort_series ( generation,  app_id,  environment,  kind,  product_id,  storefront,  period)
    values                    (:generation, :app_id, :environment, :kind, :product_id, :storefront, :period)`)
  const addToCell = store.prepare<[number, number, number, number, number, number, number]>(`
    insert into cohort_cells (series_id, cohort, position, count, charged_milli, refunded_milli, prorated_milli)
    values (?, ?, ?, ?, ?, ?, ?)
    on conflict (series_id, cohort, position) do update set count = count + excluded.count,
      charged_milli = charged_milli + excluded.charged_milli,
      refunded_milli = refunded_milli + excluded.refunded_milli,
      prorated_milli = prorated_milli + excluded.prorated_milli`)
  const seriesOf = store.prepare<Omit<SeriesKey, 'period'>, { id: number; period: string }>(`
    select id, period from cohort_series where generation = :generation and app_id = :app_id and environment = :environment and kind = :kind
      and product_id = :product_id and storefront = :storefront`)
  const sums = store.prepare<[number, number, number], CohortSum>(`
    select cohort, position, count, charged_milli, refunded_milli, prorated_milli
    from cohort_cells where series_id = ? and cohort between ? and ?`)
  const byPosition = store.prepare<[number, number, number], Omit<CohortSum, 'cohort'>>(`
    select position, sum(count) as count, sum(charged_milli) as charged_milli,
      sum(refunded_milli) as refunded_milli, sum(prorated_milli) as prorated_milli
    from cohort_cells where series_id = ? and cohort between ? and ? group by position`)
  const seriesIds = openSeriesIds(store)

  /** Adds to the sums of an app. Runs inside the caller’s unit of work. */
  function add({ generation, app_id, environment }: CohortScope, cells: readonly CohortCell[]): void {
    for (const { kind, product_id, storefront, period, cohort, position, ...sum } of cells) {
      const id = seriesId({ generation, app_id, environment, kind, product_id, storefront, period })
      addToCell.run(
        ...([
          id,
          cohort,
          position,
          sum.count,
          sum.charged_milli,
          sum.refunded_milli,
          sum.prorated_milli,
        ] as const),
      )
    }
  }

  function seriesId(series: SeriesKey): number {
    const { generation, app_id, environment, kind, product_id, storefront, period } = series
    const name = [generation, app_id, environment, kind, product_id, storefront, period].join('\n')
    return seriesIds.idOf(name, () => findId.get(series)?.id ?? Number(insert.run(series).lastInsertRowid))
  }

  /** The series of a query, each with the first cohort to read. */
  const matchingSeries = ({ scopes, kind, product_id, storefront, ...range }: CohortSumQuery) =>
    scopes.flatMap(({ observed, ...scope }) => {
      const from = Math.max(range.from, firstCohort(kind, observed))
      if (from > range.until) return []
      return seriesOf.all({ ...scope, kind, product_id, storefront }).map((series) => ({ ...series, from }))
    })

  /** Reads all sums of the cohorts from `from` to `until`, with the period of their series. */
  const read = (query: CohortSumQuery): PeriodSum[] =>
    matchingSeries(query).flatMap(({ id, period, from }) =>
      sums.all(id, from, query.until).map((sum) => ({ ...sum, period })),
    )

  /** Sums the cohorts from `from` to `until` by position. */
  const readMerged = (query: CohortSumQuery): Omit<CohortSum, 'cohort'>[] =>
    matchingSeries(query).flatMap(({ id, from }) => byPosition.all(id, from, query.until))

  return { add, read, readMerged }
}

/** The first cohort that may have been observed. Cohorts of payers are numbered by day, week or month, others by day. */
function firstCohort(kind: CohortKind, observed: Observed | undefined): number {
  const { any } = observed ?? ALWAYS
  if (!Number.isFinite(any)) return any
  if (kind === 'payers.week') return weekOf(any)
  return kind === 'payers.month' ? monthOf(any) : any
}
