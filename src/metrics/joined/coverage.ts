/** What we compute: how much of Apple's figures the ledger explains, month by month, and what the rest is for. */
import type { App } from '../../apps/apps.ts'
import { nextTurn } from '../../turns.ts'
import { type DayNumber, dayText, monthOf } from '../lineage/calendar.ts'
import type { Measure } from '../lineage/rows.ts'
import type { ReportedMeasure } from '../reports/cells.ts'
import type { ReportedDays } from '../reports/days.ts'
import { type Amount, NOTHING, standingOf, type ValueLines } from '../reports/lines.ts'
import type { ReportedSums } from '../reports/sums.ts'
import { ratioOf } from '../series/formula_lines.ts'
import type { Generation } from '../upkeep/generations.ts'
import type { Seams } from './cutovers.ts'
import { type Daily, type FlowCauses, flowCauses, NO_CAUSES } from './difference_causes.ts'
import type { BaseOf, Sources } from './sources.ts'

type CoveredMetric = 'mrr' | 'active_subscriptions' | 'active_trials' | 'revenue' | 'refunds' | 'new_trials'

/**
 * Why the ledger has less (above zero) or more (below) than the reports. Their sum is reports − ledger.
 * before_first_notification: Apple's figure is of a time, or of subscriptions, that nothing had been heard of.
 */
type Causes = FlowCauses

/**
 * A month of an app and metric. Money in thousandths of the base currency, else counts; a level is that of `day_on`, the
 * month's last day that a report tells of. `share` is ledger ÷ reports, null where that is nothing by nothing.
 */
type Covered = {
  app_id: string
  month: string
  metric: CoveredMetric
  unit: 'money' | 'count'
  day_on: string
  reports: number
  ledger: number
  share: number | null
  residue: Causes
}

/** An app, and the generation that is read. */
type Shown = { app: App; shown: Generation }

type Deps = { baseOf: BaseOf; days: ReportedDays; sums: ReportedSums; sources: Sources; seams: Seams }

type Level = { metric: CoveredMetric; measure: 'mrr' | 'trials'; column: keyof Amount }
const LEVELS: readonly Level[] = [
  { metric: 'mrr', measure: 'mrr', column: 'milli' },
  { metric: 'active_subscriptions', measure: 'mrr', column: 'count' },
  { metric: 'active_trials', measure: 'trials', column: 'count' },
]
const CHARGES = ['revenue.new', 'revenue.renewal', 'revenue.one_time'] as const
/** The longest period there is: who has heard for so long has heard of everyone. */
const LONGEST_DAYS = 366
const DAYS_OF_PERIOD: Readonly<Record<string, number>> = {
  P3D: 3,
  P1W: 7,
  P2W: 14,
  P1M: 31,
  P2M: 62,
  P3M: 92,
  P6M: 184,
  P1Y: LONGEST_DAYS,
}

export function openCoverage({ baseOf, days, sums, sources, seams }: Deps) {
  /** Every month of an app that its reports tell of, oldest first, as a generation has it; nothing where there are none. */
  async function of(app: App, shown: Generation): Promise<Covered[]> {
    const one = { app, shown }
    const [levelDays, saleDays, eventDays] = (['subscription', 'sales', 'subscription_event'] as const).map(
      (kind) =>
        sums.isReported({ generation: shown.id, app_id: app.id }, kind) ? days.there(shown.id, kind) : [],
    )
    const found: Covered[][] = []
    for (const level of LEVELS) {
      await nextTurn()
      found.push(await levelMonths(one, level, levelDays ?? []))
    }
    for (const metric of ['revenue', 'refunds'] as const) {
      await nextTurn()
      found.push(await moneyMonths(one, metric, saleDays ?? []))
    }
    await nextTurn()
    found.push(await trialMonths(one, eventDays ?? []))
    return found.flat().sort((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : 0))
  }

  type Split = 'currency' | 'period' | null
  const whole = ({ app, shown }: Shown, there: readonly DayNumber[], split: Split = null) => ({
    shown,
    app_id: app.id,
    filters: {},
    split,
    currency: null,
    has_before: true,
    from: there[0] ?? 0,
    until: there.at(-1) ?? 0,
    ...({ environment: 'production', zone: 'pacific' } as const),
  })

  async function levelMonths(one: Shown, level: Level, there: readonly DayNumber[]): Promise<Covered[]> {
    const { metric, measure, column } = level
    const reported = sources.reports(whole(one, there, 'period'), measure)
    const own = await sources.ledger(whole(one, there, 'period'), { [measure]: 1 })
    const standing = new Map([...own].map(([period, line]) => [period, standingOf(line)]))
    const rate = metric === 'mrr' ? await revaluation(one, there) : () => 0
    const heard = seams.of(one.app.id, 'flows')?.day ?? Infinity
    return lastOfMonths(there).map((day) => {
      const periods = new Set([...reported.keys(), ...own.keys()])
      let [told, had, unheard] = [0, 0, 0]
      for (const period of periods) {
        const apple = reported.get(period)?.get(day)?.[column] ?? 0
        const ours = standing.get(period)?.(day)[column] ?? 0
        told += apple
        had += ours
        if (day - heard < (DAYS_OF_PERIOD[period] ?? LONGEST_DAYS)) unheard += Math.max(0, apple - ours)
      }
      const exchange_rate = rate(day)
      const rest = told - had - exchange_rate
      const before_first_notification = Math.max(0, Math.min(unheard, rest))
      const unknown = rest - before_first_notification
      const residue = { ...NO_CAUSES, before_first_notification, exchange_rate, unknown }
      return covered(one, metric, day, { reports: told, ledger: had, residue })
    })
  }

  /** What the ledger's level would be by the rates of a day, less what it is by those of each charge's own day. */
  async function revaluation(one: Shown, there: readonly DayNumber[]): Promise<(day: DayNumber) => number> {
    const currencies = await currenciesOf(one, ['mrr'], there)
    const lines = await Promise.all(
      currencies.map(async (currency) => {
        const native = await sources.ledger({ ...whole(one, there), currency }, { mrr: 1 })
        return { currency, standing: standingOf(native.get('')) }
      }),
    )
    const inBase = standingOf((await sources.ledger(whole(one, there), { mrr: 1 })).get(''))
    return (day) => {
      let anew = 0
      for (const { currency, standing } of lines) {
        const converted = baseOf(one.shown.currency, standing(day).milli, currency, day)
        if (converted === null) return 0
        anew += converted
      }
      return anew - inBase(day).milli
    }
  }

  async function currenciesOf(
    one: Shown,
    measures: readonly Measure[],
    there: readonly DayNumber[],
  ): Promise<string[]> {
    const weights = Object.fromEntries(measures.map((measure) => [measure, 1]))
    const lines = await sources.ledger(whole(one, there, 'currency'), weights)
    return [...lines.keys()].filter((currency) => currency !== '')
  }

  async function moneyMonths(
    one: Shown,
    metric: 'revenue' | 'refunds',
    there: readonly DayNumber[],
  ): Promise<Covered[]> {
    const isRevenue = metric === 'revenue'
    const sign = isRevenue ? -1 : 1
    const reported = (measures: readonly ReportedMeasure[]) => {
      const lines = measures.map((measure) => sources.reports(whole(one, there), measure).get(''))
      return (day: DayNumber): number => lines.reduce((sum, line) => sum + (line?.get(day)?.milli ?? 0), 0)
    }
    const own = async (measures: readonly Measure[]) => {
      const weights = Object.fromEntries(measures.map((measure) => [measure, 1]))
      return inDay((await sources.ledger(whole(one, there), weights)).get(''))
    }
    const charges = isRevenue ? CHARGES : []
    const parts = {
      reported: [reported(charges), reported(['revenue.refund']), reported(['revenue.proration'])] as const,
      own: [await own(charges), await own(['revenue.refund']), await own(['revenue.proration'])] as const,
      rate: isRevenue ? await chargesAnew(one, there) : () => 0,
    }
    const daily = (day: DayNumber): Daily => ({
      day,
      charges: parts.reported[0](day) - parts.own[0](day),
      refunds: sign * (parts.reported[1](day) - parts.own[1](day)),
      prorations: sign * (parts.reported[2](day) - parts.own[2](day)),
      exchange_rate: parts.rate(day),
      reports: parts.reported[0](day) + sign * (parts.reported[1](day) + parts.reported[2](day)),
    })
    return flowMonths(one, metric, there, daily)
  }

  /** The charges of a Pacific day by its own rates, less what they were counted as. */
  async function chargesAnew(one: Shown, there: readonly DayNumber[]): Promise<(day: DayNumber) => number> {
    const weights = Object.fromEntries(CHARGES.map((measure) => [measure, 1]))
    const currencies = await currenciesOf(one, CHARGES, there)
    const natives = await Promise.all(
      currencies.map(async (currency) => {
        const lines: ValueLines = await sources.ledger({ ...whole(one, there), currency }, weights)
        return { currency, at: inDay(lines.get('')) }
      }),
    )
    const inBase = inDay((await sources.ledger(whole(one, there), weights)).get(''))
    return (day) => {
      let anew = 0
      for (const { currency, at } of natives) {
        const converted = baseOf(one.shown.currency, at(day), currency, day)
        if (converted === null) return 0
        anew += converted
      }
      return anew - inBase(day)
    }
  }

  async function trialMonths(one: Shown, there: readonly DayNumber[]): Promise<Covered[]> {
    const reported = sources.reports(whole(one, there), 'trial.began').get('')
    const own = (await sources.ledger(whole(one, there), { 'trial.began': 1 })).get('')
    return flowMonths(one, 'new_trials', there, (day) => {
      const reports = reported?.get(day)?.count ?? 0
      const charges = reports - (own?.get(day)?.count ?? 0)
      return { day, charges, refunds: 0, prorations: 0, exchange_rate: 0, reports }
    })
  }

  function flowMonths(
    one: Shown,
    metric: CoveredMetric,
    there: readonly DayNumber[],
    daily: (day: DayNumber) => Daily,
  ): Covered[] {
    const heard = seams.of(one.app.id, 'flows')?.day ?? Infinity
    const all = there.map(daily)
    const months = Map.groupBy(all, ({ day }) => monthOf(day))
    return [...months.values()].map((month) => {
      const reports = month.reduce((sum, one) => sum + one.reports, 0)
      const residue = flowCauses(month, all, heard)
      const ledger = reports - Object.values(residue).reduce((sum, part) => sum + part, 0)
      return covered(one, metric, month.at(-1)?.day ?? 0, { reports, ledger, residue })
    })
  }

  return { of }
}

const inDay =
  (line: ReadonlyMap<DayNumber, Amount> | undefined) =>
  (day: DayNumber): number =>
    (line?.get(day) ?? NOTHING).milli

/** Of each month the last of its days. */
const lastOfMonths = (there: readonly DayNumber[]): DayNumber[] =>
  there.filter((day, index) => {
    const next = there[index + 1]
    return next === undefined || monthOf(next) !== monthOf(day)
  })

function covered(
  one: Shown,
  metric: CoveredMetric,
  day: DayNumber,
  { reports, ledger, residue }: Pick<Covered, 'reports' | 'ledger' | 'residue'>,
): Covered {
  const isMoney = metric === 'mrr' || metric === 'revenue' || metric === 'refunds'
  const day_on = dayText(day)
  return {
    app_id: one.app.id,
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
