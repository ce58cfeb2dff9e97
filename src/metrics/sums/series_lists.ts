/** Lists the stored series of one measure of one app by one dimension. */
import type { Store } from '../../store/store.ts'
import type { SumSeries } from './cube.ts'

/** The sums of one measure of one app by one dimension. */
export type DaySumSource = Omit<SumSeries, 'value'>

type ListedSeries = { id: number; value: string }

/** Lists that are kept: those of all measures of some fifty apps. */
const MAX_LISTS = 10_000

/** The statement that lists series. */
export const prepareSeriesList = (store: Store) =>
  store.prepare<DaySumSource, ListedSeries>(`
    select id, value from metric_series where generation = :generation and app_id = :app_id
      and environment = :environment and zone = :zone and measure = :measure and dimension = :dimension`)

/**
 * Returns the function that lists series. It keeps the lists, because a read of a metric asks for hundreds, and a series
 * appears with the first sum of its value and then stays.
 */
export function openSeriesLists(store: Store): (source: DaySumSource) => readonly ListedSeries[] {
  const list = prepareSeriesList(store)
  const kept = store.cached(['metric_series'], (key) => list.all(JSON.parse(key)), MAX_LISTS)
  return ({ generation, app_id, environment, zone, measure, dimension }) =>
    kept(JSON.stringify({ generation, app_id, environment, zone, measure, dimension }))
}
