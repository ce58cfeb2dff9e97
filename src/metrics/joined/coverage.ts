/** Computes coverage: the ratio of ledger to reports in each month, and the causes of the difference. */
import type { App } from '../../apps/apps.ts'
import { yieldToEventLoop } from '../../turns.ts'
import { type DayNumber, dayText, monthOf } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { ReportedMeasure } from '../reports/cells.ts'
import { type Amount, cumulativeOf, NO_AMOUNT } from '../reports/daily_amounts.ts'
import type { ReportedDays } from '../reports/days.ts'
import type { ReportedSums } from '../reports/sums.ts'
import { ratioOf } from '../series/formula_lines.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { AmountSources, ConvertToBase } from './amount_sources.ts'
import type { Cutovers } from './cutovers.ts'
import {
  type DayDifference,
  type DifferenceCauses,
  differenceCauses,
  NO_CAUSES,
} from './difference_causes.ts'

type CoveredMetric = 'mrr' | 'active_subscriptions' | 'active_trials' | 'revenue' | 'refunds' | 'new_trials'

/**
 * The difference by cause; positive if the reports have more than the ledger. The causes sum to reports − ledger.
 * before_first_notification: from a time or from subscriptions without any received notification.
 */
type RowCauses = DifferenceCauses

/**
 * A month of an app and metric. Money is in thousandths of the base currency; other values are counts. A level is the
 * value on `day_on`, the month’s last day with a report. `share` is ledger ÷ reports; null if `reports` is zero.
 */
type CoverageRow = {
  app_id: string
  month: string
  metric: CoveredMetric
  unit: 'money' | 'count'
  day_on: string
  reports: number
  ledger: number
  share: number | null
  residue: RowCauses
}

/** An app and the generation that is read. */
type Target = { app: App; shown: Generation }

type Deps = {
  convertToBase: ConvertToBase
  days: ReportedDays
  sums: ReportedSums
  sources: AmountSources
  cutovers: Cutovers
}

type CoveredLevel = { metric: CoveredMetric; measure: 'mrr' | 'trials'; column: keyof Amount }
const LEVELS: readonly CoveredLevel[] = [
  { metric: 'mrr', measure: 'mrr', column: 'milli' },
  { metric: 'active_subscriptions', measure: 'mrr', column: 'count' },
  { metric: 'active_trials', measure: 'trials', column: 'count' },
]
const CHARGES = ['revenue.new', 'revenue.renewal', 'revenue.one_time'] as const
/** Refunds less reversals. */
const REFUNDS = ['revenue.refund', 'revenue.refund_reversed'] as const
/** The longest subscription period. Within this time each active subscription sends a notification. */
const MAX_PERIOD_DAYS = 366
const PERIOD_DAYS: Readonly<Record<string, number>> = {
  P3D: 3,
  P1W: 7,
  P2W: 14,
  P1M: 31,
  P2M: 62,
  P3M: 92,
  P6M: 184,
  P1Y: MAX_PERIOD_DAYS,
}

export function openCoverage({ convertToBase, days, sums, sources, cutovers }: Deps) {
  /** All months of an app with reports, the oldest first; empty without reports. */
  async function coverageOf(app: App, shown: Generation): Promise<CoverageRow[]> {
    const target = { app, shown }
    const [levelDays, saleDays, eventDays] = (['subscription', 'sales', 'subscription_event'] as const).map(
      (kind) =>
        sums.isReported({ generation: shown.id, app_id: app.id }, kind) ? days.available(shown.id, kind) : [],
    )
    const monthsByMetric: CoverageRow[][] = []
    for (const level of LEVELS) {
      await yieldToEventLoop()
      monthsByMetric.push(await levelMonths(target, level, levelDays ?? []))
    }
    for (const metric of ['revenue', 'refunds'] as const) {
      await yieldToEventLoop()
      monthsByMetric.push(await moneyMonths(target, metric, saleDays ?? []))
    }
    await yieldToEventLoop()
    monthsByMetric.push(await trialMonths(target, eventDays ?? []))
    return monthsByMetric.flat().sort((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : 0))
  }

  type Split = 'currency' | 'period' | null
  const baseQuery = ({ app, shown }: Target, reportDays: readonly DayNumber[], split: Split = null) => ({
    shown,
    app_id: app.id,
    filters: {},
    split,
    currency: null,
    has_before: true,
    from: reportDays[0] ?? 0,
    until: reportDays.at(-1) ?? 0,
    ...({ environment: 'production', zone: 'pacific' } as const),
  })

  async function levelMonths(
    target: Target,
    level: CoveredLevel,
    reportDays: readonly DayNumber[],
  ): Promise<CoverageRow[]> {
    const { metric, measure, column } = level
    const reported = sources.reports(baseQuery(target, reportDays, 'period'), measure)
    const own = await sources.ledger(baseQuery(target, reportDays, 'period'), { [measure]: 1 })
    const cumulative = new Map([...own].map(([period, line]) => [period, cumulativeOf(line)]))
    const rate = metric === 'mrr' ? await revaluation(target, reportDays) : () => 0
    const completeFrom = cutovers.cutoverOf(target.app.id, 'flows')?.day ?? Infinity
    return lastReportDays(reportDays).map((day) => {
      const periods = new Set([...reported.keys(), ...own.keys()])
      let [reportedTotal, ledgerTotal, beforeNotifications] = [0, 0, 0]
      for (const period of periods) {
        const reportAmount = reported.get(period)?.get(day)?.[column] ?? 0
        const ledgerAmount = cumulative.get(period)?.(day)[column] ?? 0
        reportedTotal += reportAmount
        ledgerTotal += ledgerAmount
        if (day - completeFrom < (PERIOD_DAYS[period] ?? MAX_PERIOD_DAYS))
          beforeNotifications += Math.max(0, reportAmount - ledgerAmount)
      }
      const exchange_rate = rate(day)
      const unexplained = reportedTotal - ledgerTotal - exchange_rate
      const before_first_notification = Math.max(0, Math.min(beforeNotifications, unexplained))
      const unknown = unexplained - before_first_notification
      const residue = { ...NO_CAUSES, before_first_notification, exchange_rate, unknown }
      return coverageRow(target, metric, day, { reports: reportedTotal, ledger: ledgerTotal, residue })
    })
  }

  /** The ledger’s level converted at the rates of a day, minus the level converted at each charge’s rate. */
  async function revaluation(
    target: Target,
    reportDays: readonly DayNumber[],
  ): Promise<(day: DayNumber) => number> {
    const currencies = await currenciesOf(target, ['mrr'], reportDays)
    const lines = await Promise.all(
      currencies.map(async (currency) => {
        const native = await sources.ledger({ ...baseQuery(target, reportDays), currency }, { mrr: 1 })
        return { currency, cumulative: cumulativeOf(native.get('')) }
      }),
    )
    const inBase = cumulativeOf((await sources.ledger(baseQuery(target, reportDays), { mrr: 1 })).get(''))
    return (day) => {
      let revalued = 0
      for (const { currency, cumulative } of lines) {
        const converted = convertToBase(target.shown.currency, cumulative(day).milli, currency, day)
        if (converted === null) return 0
        revalued += converted
      }
      return revalued - inBase(day).milli
    }
  }

  async function currenciesOf(
    target: Target,
    measures: readonly Measure[],
    reportDays: readonly DayNumber[],
  ): Promise<string[]> {
    const weights = Object.fromEntries(measures.map((measure) => [measure, 1]))
    const lines = await sources.ledger(baseQuery(target, reportDays, 'currency'), weights)
    return [...lines.keys()].filter((currency) => currency !== '')
  }

  async function moneyMonths(
    target: Target,
    metric: 'revenue' | 'refunds',
    reportDays: readonly DayNumber[],
  ): Promise<CoverageRow[]> {
    const isRevenue = metric === 'revenue'
    const sign = isRevenue ? -1 : 1
    const reported = (measures: readonly ReportedMeasure[]) => {
      const lines = measures.map((measure) => sources.reports(baseQuery(target, reportDays), measure).get(''))
      return (day: DayNumber): number => lines.reduce((sum, line) => sum + (line?.get(day)?.milli ?? 0), 0)
    }
    const own = async (measures: readonly Measure[]) => {
      const weights = Object.fromEntries(measures.map((measure) => [measure, 1]))
      return amountOn((await sources.ledger(baseQuery(target, reportDays), weights)).get(''))
    }
    const charges = isRevenue ? CHARGES : []
    const amounts = {
      reported: [reported(charges), reported(['revenue.refund']), reported(['revenue.proration'])] as const,
      own: [await own(charges), await own(REFUNDS), await own(['revenue.proration'])] as const,
      rate: isRevenue ? await revaluedCharges(target, reportDays) : () => 0,
    }
    const differenceOn = (day: DayNumber): DayDifference => ({
      day,
      charges: amounts.reported[0](day) - amounts.own[0](day),
      refunds: sign * (amounts.reported[1](day) - amounts.own[1](day)),
      prorations: sign * (amounts.reported[2](day) - amounts.own[2](day)),
      exchange_rate: amounts.rate(day),
      reports: amounts.reported[0](day) + sign * (amounts.reported[1](day) + amounts.reported[2](day)),
    })
    return flowMonths(target, metric, reportDays, differenceOn)
  }

  /** The charges of a Pacific day converted at the rates of that day, minus their stored converted value. */
  async function revaluedCharges(
    target: Target,
    reportDays: readonly DayNumber[],
  ): Promise<(day: DayNumber) => number> {
    const weights = Object.fromEntries(CHARGES.map((measure) => [measure, 1]))
    const currencies = await currenciesOf(target, CHARGES, reportDays)
    const byCurrency = await Promise.all(
      currencies.map(async (currency) => {
        const lines = await sources.ledger({ ...baseQuery(target, reportDays), currency }, weights)
        return { currency, at: amountOn(lines.get('')) }
      }),
    )
    const inBase = amountOn((await sources.ledger(baseQuery(target, reportDays), weights)).get(''))
    return (day) => {
      let revalued = 0
      for (const { currency, at } of byCurrency) {
        const converted = convertToBase(target.shown.currency, at(day), currency, day)
        if (converted === null) return 0
        revalued += converted
      }
      return revalued - inBase(day)
    }
  }

  async function trialMonths(target: Target, reportDays: readonly DayNumber[]): Promise<CoverageRow[]> {
    const reported = sources.reports(baseQuery(target, reportDays), 'trial.began').get('')
    const own = (await sources.ledger(baseQuery(target, reportDays), { 'trial.began': 1 })).get('')
    return flowMonths(target, 'new_trials', reportDays, (day) => {
      const reports = reported?.get(day)?.count ?? 0
      const charges = reports - (own?.get(day)?.count ?? 0)
      return { day, charges, refunds: 0, prorations: 0, exchange_rate: 0, reports }
    })
  }

  function flowMonths(
    target: Target,
    metric: CoveredMetric,
    reportDays: readonly DayNumber[],
    differenceOn: (day: DayNumber) => DayDifference,
  ): CoverageRow[] {
    const completeFrom = cutovers.cutoverOf(target.app.id, 'flows')?.day ?? Infinity
    const all = reportDays.map(differenceOn)
    const months = Map.groupBy(all, ({ day }) => monthOf(day))
    return [...months.values()].map((month) => {
      const reports = month.reduce((sum, day) => sum + day.reports, 0)
      const residue = differenceCauses(month, all, completeFrom)
      const ledger = reports - Object.values(residue).reduce((sum, part) => sum + part, 0)
      return coverageRow(target, metric, month.at(-1)?.day ?? 0, { reports, ledger, residue })
    })
  }

  return { coverageOf }
}

const amountOn =
  (line: ReadonlyMap<DayNumber, Amount> | undefined) =>
  (day: DayNumber): number =>
    (line?.get(day) ?? NO_AMOUNT).milli

/** The last day with a report in each month. */
const lastReportDays = (reportDays: readonly DayNumber[]): DayNumber[] =>
  reportDays.filter((day, index) => {
    const next = reportDays[index + 1]
    return next === undefined || monthOf(next) !== monthOf(day)
  })

function coverageRow(
  target: Target,
  metric: CoveredMetric,
  day: DayNumber,
  { reports, ledger, residue }: Pick<CoverageRow, 'reports' | 'ledger' | 'residue'>,
): CoverageRow {
  const isMoney = metric === 'mrr' || metric === 'revenue' || metric === 'refunds'
  const day_on = dayText(day)
  return {
    app_id: target.app.id,
    month: day_on.slice(0, 7),
    metric,
    unit: isMoney ? 'money' : 'count',
    day_on,
    reports,
    ledger,
    share: ratioOf(ledger, reports),
    residue,
  }
}
