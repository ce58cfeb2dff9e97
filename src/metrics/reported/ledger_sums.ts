/** What we remember: the ledger's own sums, read as those of the reports are, by days of any zone they are kept in. */
import type { Environment } from '../../apple/payloads.ts'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../calendar.ts'
import type { Measure } from '../rows.ts'
import type { Sum } from './sums.ts'

type LedgerPlace = { app_id: string; environment: Environment; zone: string }

export function openLedgerSums(store: Store, shown: () => number | null) {
  const series = store.prepare<
    [number, string, string, string, string, string],
    { id: number; value: string }
  >(
    `select id, value from metric_series
     where generation = ? and app_id = ? and environment = ? and zone = ? and measure = ? and dimension = ?`,
  )
  const days = store.prepare<[number, DayNumber, DayNumber], Sum & { day: DayNumber }>(
    'select day, milli, base_milli, count from metric_days where series_id = ? and day between ? and ?',
  )

  return {
    /** The values of a dimension, with the number of each one's sums. */
    seriesOf: (place: LedgerPlace, measure: Measure, dimension: string) => {
      const generation = shown()
      if (generation === null) return []
      return series.all(generation, place.app_id, place.environment, place.zone, measure, dimension)
    },
    /** From day to day, both included. */
    days: (series_id: number, from: DayNumber, until: DayNumber) => days.all(series_id, from, until),
  }
}
