/** Reads today’s figures and the figures of the same weekday in previous weeks from the series. */
import * as v from 'valibot'
import type { Clock } from '../../clock.ts'
import type { Basis } from '../../money.ts'
import type { Store } from '../../store/store.ts'
import type { MetricName } from '../definitions/definitions.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import { ratioOf } from './formula_lines.ts'
import type { Point } from './points.ts'
import { isKnownOn } from './reasons.ts'
import type { SeriesAnswer, SeriesReader, SeriesScope, SnapshotScope } from './series.ts'
import { resolveRequest, SeriesParams } from './series_request.ts'

/** With how many previous weeks a day is compared. */
const COMPARED_WEEKS = 8
/** MRR is included for today and this many days before. */
const MRR_DAYS = 30

const WEEKDAYS = ['thursday', 'friday', 'saturday', 'sunday', 'monday', 'tuesday', 'wednesday'] as const

export type Today = ReturnType<typeof openToday>

/** Which money to read. `currency`: one currency unconverted, or null for all in the base currency. */
type MoneyQuery = { currency: string | null; basis: Basis }

type Deps = { store: Store; clock: Clock; series: SeriesReader }
type DayRange = { from: DayNumber; to: DayNumber }

export function openToday({ store, clock, series }: Deps) {
  const renewalsDisabled = store.prepare<[string, string, number, number], { count: number }>(`
    select count(*) as count from notifications
    where app_id = ? and environment = ? and origin in ('live', 'recovered', 'backfill') and signed_at >= ? and signed_at < ?
      and type = 'DID_CHANGE_RENEWAL_STATUS' and subtype = 'AUTO_RENEW_DISABLED'`)

  /** Reads today so far: revenue and the usual revenue, counters, MRR with its recent days, and yesterday. */
  const today = (scope: SeriesScope, money: MoneyQuery, max_wait_ms: number | null = null) =>
    series.withSnapshot(scope, (one) => todayIn(one, money), max_wait_ms)

  async function todayIn(scope: SnapshotScope, money: MoneyQuery) {
    const calendar = series.calendarOf(scope)
    const now = calendar.dayOf(clock())
    const yesterday = { from: now - 1, to: now - 1 }
    const answer = (name: MetricName, { from, to }: DayRange, query: object) =>
      series.answer(scope, requestFor(name, { from: dayText(from), to: dayText(to), ...query }, now))
    const moneyParams = { ...(money.currency !== null && { currency: money.currency }), basis: money.basis }
    const revenue = await answer('revenue', { from: now - COMPARED_WEEKS * 7, to: now }, moneyParams)
    const mrr = await answer('mrr', { from: now - MRR_DAYS, to: now }, moneyParams)
    const trials = await answer('new_trials', { from: now, to: now }, {})
    const gross = await answer('revenue', yesterday, { ...moneyParams, basis: 'gross' })
    const proceeds = await answer('revenue', yesterday, { ...moneyParams, basis: 'proceeds' })
    const [startOfDay, endOfDay] = [calendar.startOf(now), calendar.startOf(now + 1)]
    const { organization_id, apps, environment, time_zone, currency, basis, today_on } = revenue
    return {
      organization_id,
      apps,
      environment,
      time_zone,
      currency,
      basis,
      today_on,
      yesterday_on: dayText(now - 1),
      rebuilding: revenue.rebuilding,
      now_at: clock(),
      behind: revenue.behind,
      day_gone: ratioOf(clock() - startOfDay, endOfDay - startOfDay) ?? 0,
      revenue: pointOf(revenue, null, today_on),
      usual: usualOf(revenue, now),
      ...countersOf(revenue, trials),
      cancellations: {
        count:
          trials.series[0]?.points[0]?.count === null
            ? null
            : renewalsDisabledIn(scope, startOfDay, endOfDay),
      },
      mrr: levelOf(mrr),
      yesterday: yesterdayOf(gross, proceeds),
    }
  }

  const renewalsDisabledIn = ({ apps, environment }: SeriesScope, from: number, until: number): number =>
    apps.reduce((sum, { id }) => sum + (renewalsDisabled.get(id, environment, from, until)?.count ?? 0), 0)

  return today
}

/** Resolves the same request as `/metrics/{name}`. */
const requestFor = (name: MetricName, query: object, today: DayNumber) =>
  resolveRequest(name, v.parse(SeriesParams, query), today)

/**
 * The figure of a part on one day. Zero if the answer omits the part, because such a part is zero throughout; null where
 * the metric is unknown.
 */
function pointOf({ series }: SeriesAnswer, part: string | null, on: string): Point {
  const pointIn = (name: string | null) =>
    series.find((one) => one.part === name)?.points.find((point) => point.on === on)
  const zero = pointIn(null)?.count === null ? null : 0
  return pointIn(part) ?? { on, milli: zero, count: zero, complete: false }
}

/** The mean revenue of the same weekday over the previous weeks that are wholly known. Each value is of a whole day. */
function usualOf(revenue: SeriesAnswer, today: DayNumber) {
  const days = Array.from({ length: COMPARED_WEEKS }, (_, index) => dayText(today - 7 * (index + 1)))
    .filter((on) => isKnownOn(revenue.series[0], on))
    .map((on) => pointOf(revenue, null, on))
    .filter(({ milli }) => milli !== null)
  const sum = days.reduce((all, { milli }) => all + (milli ?? 0), 0)
  return {
    milli: days.length === 0 ? null : Math.round(sum / days.length),
    weeks: days.length,
    weekday: WEEKDAYS[today % 7] ?? WEEKDAYS[0],
    of: 'whole_day' as const,
    days,
  }
}

function countersOf(revenue: SeriesAnswer, trials: SeriesAnswer) {
  const today = (part: string) => pointOf(revenue, part, revenue.today_on)
  const sum = (...parts: string[]) => sumOf(parts.map(today))
  const { count: reversals, ...reversed } = today('refund_reversed')
  return {
    sales: sum('new', 'one_time'),
    trials: { count: pointOf(trials, null, revenue.today_on).count ?? null },
    renewals: sum('renewal'),
    // Less reversals, in number and amount.
    refunds: sumOf([today('refunds'), { ...reversed, count: reversals == null ? null : -reversals }]),
  }
}

/** The sum of parts on one day; null where one is unknown, or where nothing of it could be converted. */
function sumOf(points: readonly Point[]) {
  const waiting = Map.groupBy(
    points.flatMap(({ not_converted = [] }) => not_converted),
    ({ currency }) => currency,
  )
  const not_converted = [...waiting].map(([currency, some]) => ({
    currency,
    milli: some.reduce((sum, { milli = 0 }) => sum + milli, 0),
  }))
  const isKnown = points.every(({ count }) => typeof count === 'number')
  const converted = points.reduce((sum, { milli }) => sum + (milli ?? 0), 0)
  return {
    count: isKnown ? points.reduce((sum, { count }) => sum + (count ?? 0), 0) : null,
    milli: !isKnown || (converted === 0 && not_converted.length > 0) ? null : converted,
    ...(not_converted.length > 0 && { not_converted }),
  }
}

/** MRR now, and the change since the first point if both are wholly known. */
function levelOf({ series }: SeriesAnswer) {
  const total = series.find(({ part }) => part === null)
  const points = total?.points ?? []
  const [first, now] = [points[0]?.milli ?? null, points.at(-1)]
  const { milli = null, count = null, not_converted } = now ?? {}
  const areKnown = [points[0], now].every((point) => point !== undefined && isKnownOn(total, point.on))
  const change_milli = milli === null || first === null || !areKnown ? null : milli - first
  const withoutPeriod = series.find(({ part }) => part === 'no_period')?.points.at(-1)?.count
  return {
    milli,
    count,
    complete: now?.complete ?? false,
    change_milli,
    change_ratio: change_milli === null || first === null ? null : ratioOf(change_milli, first),
    points,
    no_period: count === null ? null : (withoutPeriod ?? 0),
    ...(not_converted && { not_converted }),
  }
}

/** Yesterday’s charges, their proceeds, and the share of the proceeds that is estimated. Reversed refunds are negative. */
function yesterdayOf(gross: SeriesAnswer, proceeds: SeriesAnswer) {
  const known = proceeds.proceeds_known ?? { exact: 0, ratio: 0, estimated: 0 }
  const estimated = Math.abs(known.estimated)
  return {
    gross: pointOf(gross, null, gross.from_on),
    proceeds: pointOf(proceeds, null, proceeds.from_on),
    proceeds_known: known,
    estimated_share: ratioOf(estimated, Math.abs(known.exact) + Math.abs(known.ratio) + estimated),
  }
}
