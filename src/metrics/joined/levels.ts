/** Reads levels from Apple’s reports, anchored to the newest report, or from the ledger alone. */
import type { DayNumber } from '../lineage/calendar.ts'
import { type Amount, addTo, type DailyAmounts, minus, NO_AMOUNT, plus } from '../reports/daily_amounts.ts'
import type { ReportedDays } from '../reports/days.ts'
import { afterCommission, type Commission } from '../reports/proceeds.ts'
import type { AmountSources } from './amount_sources.ts'
import type { Cutovers } from './cutovers.ts'
import {
  type AmountAt,
  type Cutover,
  cumulativeIn,
  dayIn,
  daysOf,
  type Joined,
  type JoinedDay,
  type JoinedQuery,
  knownDay,
  type LevelMeasure,
  ledgerDay,
  NO_AMOUNTS,
  NO_BASIS,
  ofKnownDays,
  partialDay,
  type SourceChange,
  sourceChangesAt,
  unknownDay,
  valuesOf,
} from './days.ts'
import type { LevelAgreement } from './level_agreement.ts'

type Deps = {
  days: ReportedDays
  sources: AmountSources
  cutovers: Cutovers
  agreement: LevelAgreement
  commission: Commission
}

/** Excludes newly known subscriptions, newly known prices and rate changes, because the reports contain them. */
const CHANGE_WEIGHTS = { mrr: 1, 'mrr.opening': -1, 'mrr.repriced': -1, 'mrr.fx': -1 } as const

export function openJoinedLevels({ days, sources, cutovers, agreement, commission }: Deps) {
  const ledgerQuery = (query: JoinedQuery) => ({ ...query, app_id: query.app.id, has_before: true })

  /** Reads a level on the known ones of some days from the ledger alone. */
  async function readLedger(
    query: JoinedQuery,
    level: LevelMeasure,
    all: readonly JoinedDay[],
  ): Promise<Joined> {
    const lines = await sources.ledger(ledgerQuery(query), { [level]: 1 })
    const at = ofKnownDays(all, cumulativeIn(lines))
    return withBasis(query, level, { days: all, at, keys: lines.keys(), joins: [] })
  }

  /** Reads a level from the reports, anchored to the newest report, and from the ledger alone after the cutover. */
  async function read(query: JoinedQuery, level: LevelMeasure): Promise<Joined> {
    const cutover = cutovers.cutoverOf(query.app.id, level)
    const reportDays = days.available(query.shown.id, 'subscription')
    const anchorOf = newestUpTo(reportDays)
    const newest = reportDays.at(-1) ?? 0
    const suspectDays = days.suspectDays(query.app.organization_id)
    const lackingDays = days.lacking(query.app.organization_id, 'subscription')
    const isFollowed = (cutovers.cutoverOf(query.app.id, 'flows')?.day ?? Infinity) <= newest + 1
    const context = { cutover, newest, isFollowed, suspectDays, lackingDays }
    const all = daysOf(query).map((day) => levelDay(day, anchorOf(day), context))
    const first = reportDays[0] ?? 0
    const isInterrupted = await fillBeforeFirstReport(query, level, all, first)
    const joins = [
      ...(isInterrupted ? [{ ...cutovers.at(first), to: 'reports' as const }] : []),
      ...sourceChangesAt(cutover),
    ]
    const from = anchorOf(query.from) ?? query.from
    const reported = sources.reports({ ...query, app_id: query.app.id, from }, level)
    const needsLedger = all.some(({ source }) => source === 'ledger')
    const own = needsLedger ? await sources.ledger(ledgerQuery(query), { [level]: 1 }) : NO_AMOUNTS
    const isAnchored = all.some(({ source }) => source === 'anchored')
    const changes = isAnchored
      ? await changesSince({ ...query, from }, level)
      : { keys: [], since: () => NO_AMOUNT }
    const [atDay, ownAt] = [dayIn(reported), cumulativeIn(own)]
    const byDay = new Map(all.map((one) => [one.day, one]))
    const at: AmountAt = (value) => (day) => {
      const one = byDay.get(day)
      if (!one?.is_known) return NO_AMOUNT
      if (one.source === 'ledger') return ownAt(value)(day)
      const anchor = anchorOf(day) ?? day
      const level = atDay(value)(anchor)
      return one.source === 'reports' ? level : plus(level, changes.since(value, anchor, day))
    }
    const keys = [...reported.keys(), ...own.keys(), ...changes.keys]
    return withBasis(query, level, { days: all, at, keys, joins })
  }

  type LevelResult = {
    days: readonly JoinedDay[]
    at: AmountAt
    keys: Iterable<string>
    joins: SourceChange[]
  }

  function withBasis(
    query: JoinedQuery,
    level: LevelMeasure,
    { days: all, at, keys, joins }: LevelResult,
  ): Joined {
    const isProceeds = query.basis === 'proceeds' && level === 'mrr'
    if (!isProceeds) return { days: all, joins, values: valuesOf(keys, query, at), basis: NO_BASIS }
    const own = proceedsOf(query, at)
    const values = valuesOf(keys, query, own.at)
    const amountsByCertainty: DailyAmounts = new Map()
    const basisOn = (value: string, { source, day }: JoinedDay) =>
      !own.isExact(value, day) ? 'estimated' : source === 'reports' ? 'exact' : 'ratio'
    for (const [value, amounts] of values)
      for (const [index, one] of all.entries())
        addTo(amountsByCertainty, basisOn(value, one), one.day, amounts[index] ?? NO_AMOUNT)
    return { days: all, joins, values, basis: ofKnownDays(all, dayIn(amountsByCertainty)) }
  }

  /** The proceeds of a level, at the ratio in the newest report up to each day, otherwise estimated. */
  function proceedsOf(query: JoinedQuery, at: AmountAt) {
    const anchorOf = newestUpTo(days.available(query.shown.id, 'subscription'))
    const from = anchorOf(query.from) ?? query.from
    const range = { ...query, app_id: query.app.id, from }
    const [gross, net, unshared] = (['mrr', 'mrr.proceeds', 'mrr.unshared'] as const).map((measure) =>
      dayIn(sources.reports(range, measure)),
    )
    const totalsOf = (value: string, day: DayNumber) => {
      const anchor = query.environment === 'production' ? anchorOf(day) : null
      const milliOf = (one: AmountAt | undefined) => (anchor === null ? 0 : (one?.(value)(anchor).milli ?? 0))
      const unshared_milli = milliOf(unshared)
      return {
        mrr: milliOf(gross),
        proceeds: milliOf(net) + afterCommission(unshared_milli, commission),
        isExact: unshared_milli === 0,
      }
    }
    const own: AmountAt = (value) => (day) => {
      const { milli, count } = at(value)(day)
      const { mrr, proceeds } = totalsOf(value, day)
      // On the report’s day the proceeds are the report’s, also if only they could be converted.
      if (milli === mrr) return { milli: proceeds, count }
      return {
        milli: mrr === 0 ? afterCommission(milli, commission) : Math.round((milli * proceeds) / mrr),
        count,
      }
    }
    const isExact = (value: string, day: DayNumber): boolean => {
      const totals = totalsOf(value, day)
      return totals.mrr !== 0 && totals.isExact
    }
    return { at: own, isExact }
  }

  /** The ledger’s change of a level from the end of the Pacific day `anchor` to the end of `day` in the query’s zone. */
  async function changesSince(query: JoinedQuery, level: LevelMeasure) {
    const weights = level === 'mrr' ? CHANGE_WEIGHTS : { trials: 1 }
    const own = await sources.ledger(ledgerQuery(query), weights)
    const pacific = await sources.ledger({ ...ledgerQuery(query), zone: 'pacific' }, weights)
    const [until, since] = [cumulativeIn(own), cumulativeIn(pacific)]
    return {
      keys: [...own.keys(), ...pacific.keys()],
      since: (value: string, anchor: DayNumber, day: DayNumber): Amount =>
        minus(until(value)(day), since(value)(anchor)),
    }
  }

  /**
   * Reads the ledger’s level before the first report, if ledger and report agree on that day, so that the level does not
   * jump there. Known are the days on which anything, complete those on which everything was heard of the app.
   */
  async function fillBeforeFirstReport(
    query: JoinedQuery,
    level: LevelMeasure,
    all: JoinedDay[],
    first: DayNumber,
  ) {
    const observed = cutovers.observedFrom(query)
    const before = all.filter(
      ({ day, source, is_known }) => !is_known && source === 'ledger' && day >= observed.any,
    )
    if (before.length === 0) return false
    const cutover = cutovers.cutoverOf(query.app.id, level)
    const range = { shown: query.shown, app_id: query.app.id, from: first, until: first }
    const isLedgerComplete = cutover !== null && cutover.day <= first
    if (!isLedgerComplete && !(await agreement.compareDays(range, level))(first)) return false
    const complete = {
      completeFrom: isLedgerComplete ? cutover.day : -Infinity,
      reason: 'older_unknown' as const,
    }
    for (const one of before) Object.assign(one, ledgerDay(one.day, observed, complete))
    return !isLedgerComplete
  }

  return { read, readLedger }
}

/** Returns a function that finds the newest of some ordered days up to a day; null before the first. */
function newestUpTo(reportDays: readonly DayNumber[]): (day: DayNumber) => DayNumber | null {
  return (day) => {
    let [low, high] = [0, reportDays.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((reportDays[middle] ?? 0) <= day) low = middle + 1
      else high = middle
    }
    return reportDays[low - 1] ?? null
  }
}

/**
 * `newest`: the newest report. `isFollowed`: whether the ledger has all notifications since the newest report.
 * `suspectDays`: the days whose report cannot be true. `lackingDays`: those whose report lacks rows, so that it does not
 * count.
 */
type LevelContext = {
  cutover: Cutover | null
  newest: DayNumber
  isFollowed: boolean
  suspectDays: ReadonlySet<DayNumber>
  lackingDays: ReadonlySet<DayNumber>
}

/**
 * The state of a day. `anchor`: the newest report up to the day, to which a day without a report is anchored. Unknown: a day
 * before the first report, and a day whose report is suspect.
 */
function levelDay(day: DayNumber, anchor: DayNumber | null, context: LevelContext): JoinedDay {
  const { cutover, newest, isFollowed, suspectDays, lackingDays } = context
  if (cutover && day >= cutover.day) return knownDay(day, 'ledger')
  if (suspectDays.has(day)) return unknownDay(day, 'reports', 'suspect_report')
  const missing = lackingDays.has(day) ? 'unread_rows' : 'no_reports'
  if (anchor === null) return unknownDay(day, 'ledger', missing)
  if (anchor === day) return knownDay(day, 'reports')
  return isFollowed && day > newest
    ? knownDay(day, 'anchored')
    : partialDay(day, 'anchored', day > newest ? 'before_ledger' : missing)
}
