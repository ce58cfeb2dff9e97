/** Notes on the sources and gaps of a metric's figures. */
import { type App, appName } from '../apps.ts'
import { day, money, plural, share } from '../words.ts'
import type { MetricAnswer } from './metric_answer.ts'

const SOURCES = {
  reports: 'Apple’s daily reports',
  anchored: 'Apple’s last report plus the signed transactions since',
  ledger: 'signed transactions',
}

/** The source of the figures in one sentence. */
export function sourceText({ sources }: MetricAnswer): string {
  if (sources.length === 0) return `Source: ${SOURCES.ledger}.`
  const kinds = [...new Set(sources.map(({ source }) => source))]
  if (kinds.length === 1 && kinds[0]) return `Source: ${SOURCES[kinds[0]]}.`
  const reportsUntil = sources.filter(({ source }) => source === 'reports').map(({ until_on }) => until_on)
  const last = reportsUntil.sort().at(-1)
  const then = kinds.includes('anchored') ? SOURCES.anchored : SOURCES.ledger
  return last
    ? `Source: ${SOURCES.reports} until ${day(last)}, then ${then}.`
    : `Source: ${kinds.map((kind) => SOURCES[kind]).join(' and ')}.`
}

/** Metrics based on monthly values of subscriptions. */
const MONTHLY_VALUE_METRICS = new Set([
  'mrr',
  'arr',
  'mrr_movements',
  'net_new_mrr',
  'quick_ratio',
  'mrr_churn_rate',
  'mrr_at_risk',
])
const MONTH_LENGTHS: Record<MetricAnswer['month_length'], string> = {
  calendar: 'Daily and weekly prices assume a month of 30.4375 days',
  revenuecat: 'Daily and weekly prices assume a month of 30 days or 4 weeks, as in RevenueCat',
}

/** The note on the month length that a metric uses; null if it uses none. */
export const monthLengthNote = ({ metric, month_length }: MetricAnswer): string | null =>
  MONTHLY_VALUE_METRICS.has(metric)
    ? `${MONTH_LENGTHS[month_length]} (metrics.factors = "${month_length}").`
    : null

/** Notes where Apple's reports define a figure differently, with their last day. */
export function differenceNotes({ sources }: MetricAnswer): string[] {
  const labeled = sources.filter(({ label }) => label !== null)
  return [...Map.groupBy(labeled, ({ label, note }) => `${label}\n${note}`).values()].map((grouped) => {
    const last = grouped
      .map(({ until_on }) => until_on)
      .sort()
      .at(-1)
    return `${grouped[0]?.label} until ${day(last ?? '')}: ${grouped[0]?.note}`
  })
}

/** The cutovers to draw, with explanations and, if there are several apps, app names. */
export function cutoversOf(
  { cutovers, sources }: MetricAnswer,
  apps: readonly App[],
): { on: string; label: string }[] {
  const cutoversByDay = Map.groupBy(cutovers, ({ on, to }) => `${on} ${to}`)
  return [...cutoversByDay.values()].map((grouped) => {
    const [on, to] = [grouped[0]?.on ?? '', grouped[0]?.to ?? 'ledger']
    const names = [...new Set(grouped.map(({ app_id }) => appName(apps, app_id)))]
    const prefix = apps.length > 1 ? `${names.join(', ')}: from` : 'From'
    const measures = new Set(grouped.map(({ measure }) => measure))
    const labels = sources.flatMap(({ measure, label }) => (label && measures.has(measure) ? [label] : []))
    const reports = labels.length > 0 ? [...new Set(labels)].join(', ') : 'Apple’s reports'
    const sourcesText =
      to === 'ledger'
        ? `signed transactions only. Before: ${reports}.`
        : `${reports}. Before: signed transactions.`
    return { on, label: `${prefix} here (midnight Pacific time): ${sourcesText}` }
  })
}

/** The note on how proceeds are known: exact, by ratio or estimated. Null if there are no proceeds. */
export function proceedsNote({ proceeds_known }: MetricAnswer): string | null {
  if (proceeds_known === null) return null
  const { exact, ratio, estimated } = proceeds_known
  const all = Math.abs(exact) + Math.abs(ratio) + Math.abs(estimated)
  if (all === 0) return null
  const parts: [number, string][] = [
    [exact, 'exact, from Apple’s report of the day'],
    [ratio, 'from the ratio in another day’s report'],
    [estimated, 'estimated from Apple’s commission'],
  ]
  const known = parts.filter(([milli]) => milli !== 0)
  return `Proceeds: ${known.map(([milli, description]) => `${share(Math.abs(milli) / all)} ${description}`).join(', ')}.`
}

/** The note on amounts without an exchange rate, or null. */
export function unconvertedNote({ series }: MetricAnswer): string | null {
  const sums = new Map<string, number>()
  for (const { part, points } of series) {
    if (part !== null) continue
    for (const { not_converted = [] } of points) {
      for (const { currency, milli = 0 } of not_converted)
        sums.set(currency, (sums.get(currency) ?? 0) + milli)
    }
  }
  if (sums.size === 0) return null
  return `Not converted (no exchange rate): ${[...sums].map(([currency, milli]) => money(milli, currency)).join(', ')}.`
}

/** The note on transactions whose price is unknown, or null. */
export function unpricedNote(answer: MetricAnswer): string | null {
  const many = countOf(answer, 'unpriced')
  return many === 0 ? null : `${plural(many, 'transaction')} with unknown price excluded.`
}

/** The note on subscriptions that began and ended within one period, which a churn rate does not count; or null. */
export function passingNote({ metric, series, currency, interval }: MetricAnswer): string | null {
  const points = series.find(({ part, value }) => part === 'passing' && value === null)?.points ?? []
  const sum = points.reduce((all, { numerator }) => all + (numerator ?? 0), 0)
  if (sum === 0) return null
  const excluded = metric === 'mrr_churn_rate' ? money(sum, currency ?? '') : plural(sum, 'subscription')
  return `Not in the rate: ${excluded} that began and ended within one ${interval.replace('_', ' ')}.`
}

/** The note on subscriptions without a monthly value, because the period of their product is unknown; or null. */
export function noPeriodNote(answer: MetricAnswer): string | null {
  const many = countOf(answer, 'no_period')
  return many === 0 ? null : noPeriodText(many)
}

export const noPeriodText = (many: number): string =>
  `${plural(many, 'subscription')} with unknown period excluded. Apple’s reports or an App Store Connect API key provide it.`

/** The count of a part: the last count of a level, or the sum of a flow. */
function countOf({ series, kind }: MetricAnswer, part: string): number {
  const counts = series.find((one) => one.part === part)?.points.map(({ count }) => count ?? 0) ?? []
  return kind === 'level' ? (counts.at(-1) ?? 0) : counts.reduce((sum, one) => sum + one, 0)
}

/** The note on how far the figures are behind the facts, or null if they are current. */
export function behindNote({ behind }: Pick<MetricAnswer, 'behind'>): string | null {
  if (behind === null) return null
  const { lineages, report_days, reason } = behind
  const parts = [
    ...(lineages > 0 ? [plural(lineages, 'purchase')] : []),
    ...(report_days > 0 ? [`${plural(report_days, 'day')} of reports`] : []),
  ]
  if (reason === 'formula')
    return 'Another version of Windfall computed these figures. They do not change until they are recomputed.'
  if (reason === 'failed') return `Incomplete: ${parts.join(' and ')} cannot be computed. See Today.`
  if (reason === 'store')
    return `${parts.join(' and ')} not counted yet: the database cannot be written. See Today.`
  return parts.length === 0
    ? 'Some purchases do not use the newest rates or prices yet.'
    : `${parts.join(' and ')} not counted yet.`
}
