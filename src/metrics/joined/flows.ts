/** Reads flows from Apple’s reports before the cutover, and from the ledger after it. */
import type { DayNumber } from '../lineage/calendar.ts'
import { PACIFIC } from '../lineage/settings.ts'
import { kindOfMeasure, type MoneyMeasure, type ReportedMeasure } from '../reports/cells.ts'
import { type Amount, addTo, type DailyAmounts, minus, NO_AMOUNT } from '../reports/daily_amounts.ts'
import type { ReportedDays } from '../reports/days.ts'
import { afterCommission, type Commission } from '../reports/proceeds.ts'
import type { LedgerQuery, Zone } from './amount_queries.ts'
import type { AmountSources } from './amount_sources.ts'
import type { Cutovers } from './cutovers.ts'
import {
  type AmountAt,
  type Cutover,
  cumulativeIn,
  dayIn,
  daysOf,
  GRACE_DAYS,
  isLoss,
  isOfGrace,
  isOfRefund,
  isRevenue,
  type Joined,
  type JoinedDay,
  type JoinedMeasure,
  type JoinedQuery,
  knownDay,
  type LossMeasure,
  lacksProceeds,
  NO_AMOUNTS,
  ofKnownDays,
  partialDay,
  type RevenueMeasure,
  sourceChangesAt,
  unknownDay,
  valuesOf,
} from './days.ts'

type FlowMeasure = Exclude<JoinedMeasure, 'mrr' | 'trials' | 'downloads'>

type Deps = { days: ReportedDays; sources: AmountSources; cutovers: Cutovers; commission: Commission }
/** Amounts by value of the split, and for proceeds the same amounts by certainty. */
type AmountsWithBasis = { lines: DailyAmounts; basis: DailyAmounts }

const EMPTY: AmountsWithBasis = { lines: NO_AMOUNTS, basis: NO_AMOUNTS }

export function openJoinedFlows({ days: reportedDays, sources, cutovers, commission }: Deps) {
  /** The ledger’s amounts of a measure, in the requested basis. */
  async function readLedger(
    query: LedgerQuery & Pick<JoinedQuery, 'basis'>,
    measure: FlowMeasure,
  ): Promise<AmountsWithBasis> {
    if (query.basis === 'proceeds' && isRevenue(measure)) return sources.proceedsOfLedger(query, measure)
    return { lines: await sources.ledger(query, { [measure]: 1 }), basis: NO_AMOUNTS }
  }

  /** Reads a flow on the known ones of some days from the ledger alone. */
  async function readLedgerDays(query: JoinedQuery, measure: FlowMeasure, days: readonly JoinedDay[]) {
    const { lines, basis } = await readLedger({ ...query, app_id: query.app.id }, measure)
    const at = ofKnownDays(days, dayIn(lines))
    return { values: valuesOf(lines.keys(), query, at), basis: ofKnownDays(days, dayIn(basis)) }
  }

  /** The reports’ amounts of a measure. Proceeds are exact, or estimated if a report does not contain them. */
  function readReports(query: JoinedQuery, measure: FlowMeasure): AmountsWithBasis {
    const read = (one: ReportedMeasure) => sources.reports({ ...query, app_id: query.app.id }, one)
    // The ledger’s rows of losses, and of returned losses, are negative, so the reports’ counts are negated.
    const exact = mergeAmounts(reportMeasures(measure, query).map(read), isLoss(measure) ? -1 : 1)
    if (query.basis !== 'proceeds') return { lines: exact, basis: NO_AMOUNTS }
    const estimates = estimatesOf(mergeAmounts(unsharedMeasures(measure).map(read)))
    const basis: DailyAmounts = new Map()
    addAll(basis, exact.values(), 'exact')
    addAll(basis, estimates.values(), 'estimated')
    return { lines: mergeAmounts([exact, estimates]), basis }
  }

  /** Estimates proceeds by subtracting Apple’s commission. */
  function estimatesOf(lines: DailyAmounts): DailyAmounts {
    const estimates: DailyAmounts = new Map()
    for (const [value, line] of lines)
      for (const [day, { milli, count }] of line)
        addTo(estimates, value, day, { milli: afterCommission(milli, commission), count })
    return estimates
  }

  /** Reads a flow from the reports before the cutover and from the ledger after it. */
  async function read(query: JoinedQuery, measure: FlowMeasure): Promise<Joined> {
    const cutover = cutovers.cutoverOf(query.app.id, 'flows')
    const own = { ...query, app_id: query.app.id }
    const isPacific = query.zone === 'pacific' || query.shown.time_zone === PACIFIC
    const isLacking = lacksProceeds(query, measure)
    const context = { ...reportDaysOf(reportedDays, query, measure), cutover, isPacific, measure, isLacking }
    const flowDays = daysOf(query).map((day) => flowDay(day, context))
    const hasSource = (source: FlowSource): boolean => flowDays.some((one) => one.flowSource === source)
    const ledgerFrom = flowDays.find(({ flowSource }) => flowSource === 'ledger')?.day ?? null
    const amountsBySource: Record<FlowSource, AmountsWithBasis> = {
      reports: readReports(query, measure),
      ledger: ledgerFrom === null ? EMPTY : await readLedger({ ...own, from: ledgerFrom }, measure),
      hole: hasSource('hole') ? await readLedger({ ...own, zone: 'pacific' }, measure) : EMPTY,
      cutover: cutover && hasSource('cutover') ? await cutoverRemainder(cutover, own, measure) : EMPTY,
    }
    const byDay = new Map(flowDays.map((one) => [one.day, one]))
    const amountAt =
      (of: keyof AmountsWithBasis): AmountAt =>
      (value) =>
      (day) => {
        const one = byDay.get(day)
        return one?.is_known ? dayIn(amountsBySource[one.flowSource][of])(value)(day) : NO_AMOUNT
      }
    const keys = FLOW_SOURCES.flatMap((source) => [...amountsBySource[source].lines.keys()])
    const days = flowDays.map(({ flowSource: _, ...day }) => day)
    const values = valuesOf(keys, query, amountAt('lines'))
    return { days, values, joins: sourceChangesAt(cutover), basis: amountAt('basis') }
  }

  /** The amounts from the cutover to the end of that day in the query’s zone, so that nothing is counted twice. */
  async function cutoverRemainder(
    { day }: Cutover,
    query: LedgerQuery & Pick<JoinedQuery, 'basis'>,
    measure: FlowMeasure,
  ): Promise<AmountsWithBasis> {
    const upTo = (until: DayNumber, zone: Zone) =>
      readLedger({ ...query, from: until, until, zone, has_before: true }, measure)
    const [own, before] = [await upTo(day, query.zone), await upTo(day - 1, 'pacific')]
    return { lines: remainder(own.lines, before.lines, day), basis: remainder(own.basis, before.basis, day) }
  }

  return { read, readLedgerDays }
}

/**
 * The source of a day’s amounts. hole: the ledger, for a day without a report before the cutover. cutover: the ledger from
 * the cutover to the end of the day.
 */
type FlowSource = 'reports' | 'ledger' | 'hole' | 'cutover'
const FLOW_SOURCES = ['reports', 'ledger', 'hole', 'cutover'] as const satisfies FlowSource[]

/** The days with a report, and those of them whose report lacks rows. */
type ReportDays = { reportDays: ReadonlySet<DayNumber>; lackingDays: ReadonlySet<DayNumber> }

/** The days with a report of a measure. */
export function reportDaysOf(
  days: Pick<ReportedDays, 'available' | 'lacking'>,
  { shown, app }: Pick<JoinedQuery, 'shown' | 'app'>,
  measure: ReportedMeasure | JoinedMeasure,
): ReportDays {
  const kind = kindOfMeasure(measure)
  const lackingDays = days.lacking(app.organization_id, kind)
  return { reportDays: new Set(days.available(shown.id, kind)), lackingDays }
}

/** The state of a day that is read from its report: unknown without one, partial if the report lacks rows. */
export function reportDay(day: DayNumber, { reportDays, lackingDays }: ReportDays): JoinedDay {
  if (!reportDays.has(day)) return unknownDay(day, 'reports', 'no_reports')
  return lackingDays.has(day) ? partialDay(day, 'reports', 'unread_rows') : knownDay(day, 'reports')
}

type FlowContext = ReportDays & {
  cutover: Cutover | null
  isPacific: boolean
  measure: FlowMeasure
  /** Whether the ledger lacks what is requested. */
  isLacking: boolean
}

function flowSourceOf(day: DayNumber, { reportDays, cutover, isPacific }: FlowContext): FlowSource {
  if (cutover && day >= cutover.day) return day === cutover.day && !isPacific ? 'cutover' : 'ledger'
  return reportDays.has(day) ? 'reports' : 'hole'
}

/**
 * The state of a day. Before the cutover, a day without a report is unknown if it is before the first notification, and
 * partial otherwise. Reports have refunds only on the day of the refund, and no losses caused by refunds. Measures that
 * depend on grace periods are partial in the ledger for `GRACE_DAYS` after the cutover. What the ledger lacks is unknown.
 */
function flowDay(day: DayNumber, context: FlowContext): JoinedDay & { flowSource: FlowSource } {
  const flowSource = flowSourceOf(day, context)
  return { ...stateOf(day, flowSource, context), flowSource }
}

function stateOf(day: DayNumber, flowSource: FlowSource, context: FlowContext): JoinedDay {
  const { cutover, measure, isLacking } = context
  if (flowSource === 'reports') {
    if (isOfRefund(measure)) return unknownDay(day, 'reports', 'not_in_reports')
    const isOnOtherDay = measure === 'revenue.refunded_by_charge'
    return isOnOtherDay ? partialDay(day, 'reports', 'not_in_reports') : reportDay(day, context)
  }
  if (flowSource === 'hole' && (cutover === null || day < cutover.day - 1))
    return unknownDay(day, 'ledger', 'no_reports')
  if (isLacking) return unknownDay(day, 'ledger', 'behind')
  if (flowSource !== 'ledger') return partialDay(day, 'ledger', 'joined')
  const isOfUnknownGrace = isOfGrace(measure) && day < (cutover?.day ?? day) + GRACE_DAYS
  return isOfUnknownGrace ? partialDay(day, 'ledger', 'grace') : knownDay(day, 'ledger')
}

function remainder(own: DailyAmounts, before: DailyAmounts, day: DayNumber): DailyAmounts {
  const rest: DailyAmounts = new Map()
  for (const value of new Set([...own.keys(), ...before.keys()])) {
    addTo(rest, value, day, minus(cumulativeIn(own)(value)(day), cumulativeIn(before)(value)(day)))
  }
  return rest
}

function mergeAmounts(all: readonly DailyAmounts[], sign: 1 | -1 = 1): DailyAmounts {
  const lines: DailyAmounts = new Map()
  for (const [value, line] of all.flatMap((one) => [...one])) addAll(lines, [line], value, sign)
  return lines
}

/** Adds each day of `lines` to the amounts of one value, or subtracts it (sign -1). */
function addAll(
  to: DailyAmounts,
  lines: Iterable<ReadonlyMap<DayNumber, Amount>>,
  value: string,
  sign: 1 | -1 = 1,
): void {
  for (const line of lines)
    for (const [day, { milli, count }] of line)
      addTo(to, value, day, { milli: sign * milli, count: sign * count })
}

/** The reported measures whose sum is a measure of the ledger. */
function reportMeasures(measure: FlowMeasure, { basis }: JoinedQuery): ReportedMeasure[] {
  if (measure === 'trial.ended') return ['trial.won', 'trial.lost']
  if (isRevenue(measure)) return revenueMeasures(measure, basis === 'proceeds' ? 'proceeds' : 'revenue')
  return isLoss(measure) ? reportLossMeasures(measure) : [measure]
}

const unsharedMeasures = (measure: FlowMeasure): MoneyMeasure[] =>
  isRevenue(measure) ? revenueMeasures(measure, 'unshared') : []

function reportLossMeasures(measure: LossMeasure): ReportedMeasure[] {
  if (isOfRefund(measure)) return []
  return [measure.replace('mrr.churn_', 'churned.') as ReportedMeasure]
}

/**
 * The reported measures of a revenue measure: the revenue, the proceeds, or the revenue of rows without proceeds. Reports do
 * not tell reversals of refunds from sales.
 */
function revenueMeasures(
  measure: RevenueMeasure,
  prefix: 'revenue' | 'proceeds' | 'unshared',
): MoneyMeasure[] {
  if (measure === 'revenue.refund_reversed') return []
  const own = measure === 'revenue.refunded_by_charge' ? 'revenue.refund' : measure
  return [own.replace('revenue', prefix) as MoneyMeasure]
}
