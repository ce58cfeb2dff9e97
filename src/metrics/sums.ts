/** What we remember: reads the kept sums of days, as few of them as answer a question. */
import { setImmediate } from 'node:timers/promises'
import type { Store } from '../store/store.ts'
import type { Dimension } from './cube.ts'
import type { Split } from './definition.ts'
import type { Measure } from './rows.ts'
import { PACIFIC, type SettingsOf } from './settings.ts'
import {
  type DayIndex,
  indexOf,
  type Reading,
  type Tallies,
  type Tally,
  tallyOf,
  type Unconverted,
} from './tallies.ts'

type Place = {
  generation: number
  app_id: string
  environment: string
  zone: string
  measure: string
  dimension: Dimension
}
type Found = { id: number; value: string }

/** One kept series that counts, and for what. */
type Wanted = { id: number; key: string; measure: Measure; is_level: boolean }

/** Which kept series answer a question. `keyOf`: what a series counts for; null where it does not. */
type Plan = { dimension: Dimension; keyOf: (value: string) => string | null }

/** Days read before others get their turn. */
const DAYS_AT_ONCE = 20_000
/** How often sums are read anew where others took their place meanwhile. */
const TRIES = 5

type Asked = Exclude<Split, 'app'>
const FINE: Readonly<Record<Asked, number>> = { product: 0, country: 1, period: 2, offer: 3, currency: 4 }

export function openSums(store: Store, settingsOf: SettingsOf) {
  const shown = store.prepare<[], { generation: number }>(
    'select generation from metric_generations where made_up_to is null',
  )
  const list = store.prepare<Place, Found>(`
    select id, value from metric_series where generation = :generation and app_id = :app_id
      and environment = :environment and zone = :zone and measure = :measure and dimension = :dimension`)
  const columns = (column: 'milli' | 'base_milli') => ({
    before: store
      .prepare<[number, number], [number | null, number | null]>(
        `select sum(${column}), sum(count) from metric_days where series_id = ? and day < ?`,
      )
      .raw(),
    days: store
      .prepare<[number, number, number], [day: number, milli: number, count: number]>(
        `select day, ${column}, count from metric_days where series_id = ? and day between ? and ?`,
      )
      .raw(),
  })
  // As it was charged, or in the base currency: what is not read need not be carried over.
  const [original, base] = [columns('milli'), columns('base_milli')]
  const first = store.prepare<[number], { day: number | null }>(
    'select min(day) as day from metric_days where series_id = ?',
  )

  /** The generation that is shown; null while nothing has ever been counted. */
  const generation = (): number | null => shown.get()?.generation ?? null

  const zoneOf = (app_id: string, zone: Reading['zone']): string | null =>
    zone === 'pacific' ? PACIFIC : (settingsOf(app_id)?.calendar.zone ?? null)

  /** Sums what is kept of the generation that is shown; a long reading in slices, between which others get a turn. */
  async function read(reading: Reading): Promise<Tallies> {
    for (let tries = 1; ; tries += 1) {
      const of = generation()
      if (of === null) return new Map()
      const tallies = await readOf(of, reading)
      if (of === generation() || tries === TRIES) return tallies
    }
  }

  async function readOf(generation: number, reading: Reading): Promise<Tallies> {
    const tallies: Tallies = new Map()
    const index = indexOf(reading.buckets)
    const column = reading.currency === null ? base : original
    let left = DAYS_AT_ONCE
    for (const { id, key, measure, is_level } of wanted(generation, reading)) {
      const tally = tallyOf(tallies, key, measure, reading.buckets.length)
      left -= addSeries(tally, id, index, { column, is_level })
      if (left > 0) continue
      await setImmediate()
      left = DAYS_AT_ONCE
    }
    return tallies
  }

  type Adding = { column: ReturnType<typeof columns>; is_level: boolean }

  /** Adds the days of one kept series; how many there were. */
  function addSeries(tally: Tally, id: number, index: DayIndex, { column, is_level }: Adding): number {
    if (is_level) {
      const [milli, count] = column.before.get(id, index.from) ?? []
      tally.before.milli += milli ?? 0
      tally.before.count += count ?? 0
    }
    const rows = column.days.all(id, index.from, index.until)
    for (const [day, milli, count] of rows) {
      const at = index.of[day - index.from] ?? 0
      tally.milli[at] = (tally.milli[at] ?? 0) + milli
      tally.count[at] = (tally.count[at] ?? 0) + count
    }
    return rows.length
  }

  /** The kept series of every app and measure of a reading, by a dimension that may hang on the app. */
  function kept(
    generation: number,
    reading: Reading,
    zone: Reading['zone'],
    by: (app_id: string) => Dimension,
  ) {
    const { apps, measures, environment } = reading
    return apps.flatMap((app_id) => {
      const own = zoneOf(app_id, zone)
      if (own === null) return []
      const place = { generation, app_id, environment, zone: own, dimension: by(app_id) }
      return measures.flatMap((measure) =>
        list.all({ ...place, measure }).map(({ id, value }) => ({ id, value, app_id, measure })),
      )
    })
  }

  function wanted(generation: number, reading: Reading): Wanted[] {
    const plans = new Map(
      reading.apps.map((app_id) => {
        const isOwnZone = zoneOf(app_id, reading.zone) === zoneOf(app_id, 'own')
        return [app_id, planOf(reading, isOwnZone)] as const
      }),
    )
    const by = (app_id: string): Dimension => plans.get(app_id)?.dimension ?? 'all'
    return kept(generation, reading, reading.zone, by).flatMap(({ id, value, app_id, measure }) => {
      const key = plans.get(app_id)?.keyOf(value) ?? null
      if (key === null) return []
      const is_level = reading.levels.includes(measure)
      return [{ id, key: reading.split === 'app' ? app_id : key, measure, is_level }]
    })
  }

  /** Sums what no rate was known for, by the currency it is in: whole, in the organization's own days. */
  function unconverted(reading: Reading): Unconverted {
    const of = generation()
    const found: Unconverted = new Map()
    if (of === null) return found
    const index = indexOf(reading.buckets)
    for (const { id, value, measure } of kept(of, reading, 'own', () => 'unconverted')) {
      const tallies = found.get(value) ?? new Map()
      found.set(value, tallies)
      const tally = tallyOf(tallies, '', measure, reading.buckets.length)
      const is_level = reading.levels.includes(measure)
      addSeries(tally, id, index, { column: original, is_level })
    }
    return found
  }

  /** The first day with anything of these measures, in the organization's own zone; null where there is none. */
  function firstDay(reading: Reading): number | null {
    const of = generation()
    const all = of === null ? [] : kept(of, reading, 'own', () => 'all')
    const found = all.flatMap(({ id }) => first.get(id)?.day ?? [])
    return found.length === 0 ? null : Math.min(...found)
  }

  /** In which currencies anything is kept. */
  function currencies(reading: Reading): string[] {
    const of = generation()
    const all = of === null ? [] : kept(of, reading, 'own', () => 'currency')
    return [...new Set(all.map(({ value }) => value))].filter((currency) => currency !== '').sort()
  }

  return { read, unconverted, firstDay, currencies }
}

/** One dimension has sums of its own, several have those of every combination, and so have the days of another zone. */
function planOf({ filters, split, currency }: Reading, isOwnZone: boolean): Plan {
  const allowed = new Map<Asked, ReadonlySet<string>>()
  for (const name of ['product', 'country', 'period', 'offer'] as const) {
    const values = filters[name]
    if (values) allowed.set(name, new Set(values))
  }
  if (currency !== null) allowed.set('currency', new Set([currency]))
  const asked = split === null || split === 'app' ? null : split
  const names = [...new Set([...allowed.keys(), ...(asked ? [asked] : [])])]
  const [only] = names
  if (isOwnZone && only === undefined) return { dimension: 'all', keyOf: () => '' }
  if (isOwnZone && only !== undefined && names.length === 1) {
    const values = allowed.get(only)
    return {
      dimension: only,
      keyOf: (value) => (values && !values.has(value) ? null : asked ? value : ''),
    }
  }
  return {
    dimension: 'fine',
    keyOf(text) {
      const values: readonly string[] = JSON.parse(text)
      for (const [name, some] of allowed) if (!some.has(values[FINE[name]] ?? '')) return null
      return asked ? (values[FINE[asked]] ?? '') : ''
    },
  }
}
