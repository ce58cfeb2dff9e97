/** Reads today’s figures and the figures of the same weekday in previous weeks from the series. */
import * as v from 'valibot'
import type { Clock } from '../../clock.ts'
import type { Basis } from '../../money.ts'
import type { Store } from '../../store/store.ts'
import type { MetricName } from '../definitions/definitions.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import { ratioOf } from './formula_lines.ts'
import type { Point } from './points.ts'
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
      cancellations: { count: countRenewalsDisabled(scope, startOfDay, endOfDay) },
      mrr: levelOf(mrr),
      yesterday: yesterdayOf(gross, proceeds),
    }
  }

  const countRenewalsDisabled = ({ apps, environment }: SeriesScope, from: number, until: number): number =>
    apps.reduce((sum, { id }) => sum + (renewalsDisabled.get(id, environment, from, until)?.count ?? 0), 0)

  return today
}

/** Resolves the same request as `/metrics/{name}`. */
const requestFor = (name: MetricName, query: object, today: DayNumber) =>
  resolveRequest(name, v.parse(SeriesParams, query), today)

/** The figure of a part on one day. Zero if the answer omits the part, because such a part is zero throughout. */
function pointOf({ series }: SeriesAnswer, part: string | null, on: string): Point {
  const found = series.find((one) => one.part === part)?.points.find((point) => point.on === on)
  return found ?? { on, milli: 0, count: 0, complete: false }
}

/** The mean revenue of the same weekday over the previous weeks that are known. Each value is of a whole day. */
function usualOf(revenue: SeriesAnswer, today: DayNumber) {
  const first = firstKnown(revenue)
  const days = Array.from({ length: COMPARED_WEEKS }, (_, index) => dayText(today - 7 * (index + 1)))
    .filter((on) => first !== null && on >= first)
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

/** The first day with transactions or reports. */
function firstKnown({ first_on, sources }: SeriesAnswer): string | null {
  const reported = sources.filter(({ source }) => source !== 'ledger').map(({ from_on }) => from_on)
  const known = [...(first_on === null ? [] : [first_on]), ...reported].sort()
  return known[0] ?? null
}

function countersOf(revenue: SeriesAnswer, trials: SeriesAnswer) {
  const part = (name: string) => pointOf(revenue, name, revenue.today_on)
  const [first, once, renewal, refunds] = [part('new'), part('one_time'), part('renewal'), part('refunds')]
  return {
    sales: { count: (first.count ?? 0) + (once.count ?? 0), milli: (first.milli ?? 0) + (once.milli ?? 0) },
    trials: { count: pointOf(trials, null, revenue.today_on).count ?? 0 },
    renewals: { count: renewal.count ?? 0, milli: renewal.milli ?? 0 },
    refunds: { count: refunds.count ?? 0, milli: refunds.milli ?? 0 },
  }
}

/** MRR now, and the change since the first point. */
function levelOf({ series }: SeriesAnswer) {
  const points = series.find(({ part }) => part === null)?.points ?? []
  const [before, now] = [points[0]?.milli ?? 0, points.at(-1)]
  const milli = now?.milli ?? 0
  return {
    milli,
    count: now?.count ?? 0,
    complete: now?.complete ?? false,
    change_milli: milli - before,
    change_ratio: ratioOf(milli - before, before),
    points,
    no_period: series.find(({ part }) => part === 'no_period')?.points.at(-1)?.count ?? 0,
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
