/** Where the figures of an answer are from, in words. */
import { type App, appName } from '../apps.ts'
import { day, money, plural, share } from '../words.ts'
import type { MetricAnswer } from './answer.ts'

const SOURCES = {
  reports: 'Apple’s daily reports',
  anchored: 'Apple’s last report and what single transactions changed since',
  ledger: 'single transactions that Apple signed',
}

/** One sentence, or two where several sources take turns. */
export function originOf({ sources }: MetricAnswer): string {
  if (sources.length === 0) return `From ${SOURCES.ledger}.`
  const kinds = [...new Set(sources.map(({ source }) => source))]
  if (kinds.length === 1 && kinds[0]) return `From ${SOURCES[kinds[0]]}.`
  const reportsUntil = sources.filter(({ source }) => source === 'reports').map(({ until_on }) => until_on)
  const last = reportsUntil.sort().at(-1)
  const then = kinds.includes('anchored') ? SOURCES.anchored : SOURCES.ledger
  return last
    ? `From ${SOURCES.reports} until ${day(last)}, then from ${then}.`
    : `From ${kinds.map((kind) => SOURCES[kind]).join(' and ')}.`
}

/** Metrics made of what subscriptions are worth in a month. */
const MONTHLY = new Set([
  'mrr',
  'arr',
  'mrr_movements',
  'net_new_mrr',
  'quick_ratio',
  'mrr_churn_rate',
  'mrr_at_risk',
])
const MONTH_LENGTHS: Record<MetricAnswer['month_length'], string> = {
  calendar: 'A month is 30.4375 days for prices of days and weeks',
  revenuecat: 'A month is 30 days or 4 weeks for prices of days and weeks, as in RevenueCat',
}

/** The length of a month that a figure goes by; null where it goes by none. */
export const monthLengthOf = ({ metric, month_length }: MetricAnswer): string | null =>
  MONTHLY.has(metric) ? `${MONTH_LENGTHS[month_length]} (metrics.factors = "${month_length}").` : null

/** The seams, to be drawn and explained; with the names of the apps where there are several. */
export function seamsOf({ seams }: MetricAnswer, apps: readonly App[]): { on: string; words: string }[] {
  const byDay = Map.groupBy(seams, ({ on }) => on)
  return [...byDay].map(([on, own]) => {
    const names = [...new Set(own.map(({ app_id }) => appName(apps, app_id)))]
    const whose = apps.length > 1 ? `${names.join(', ')}: from` : 'From'
    return {
      on,
      words: `${whose} here on (midnight, Pacific time) single transactions alone; before, Apple’s reports.`,
    }
  })
}

/** Which share of the proceeds is not Apple's own figure; nothing where all of it is, or none are shown. */
export function estimateOf({ proceeds_known }: MetricAnswer): string | null {
  if (proceeds_known === null) return null
  const { exact, ratio, estimated } = proceeds_known
  const all = Math.abs(exact) + Math.abs(ratio) + Math.abs(estimated)
  if (all === 0) return null
  const parts: [number, string][] = [
    [exact, 'as Apple’s report of the day says'],
    [ratio, 'by the share of another day’s report'],
    [estimated, 'estimated by Apple’s commission'],
  ]
  const told = parts.filter(([milli]) => milli !== 0)
  return `Proceeds: ${told.map(([milli, words]) => `${share(Math.abs(milli) / all)} ${words}`).join(', ')}.`
}

/** Amounts that no exchange rate is known for. */
export function unconvertedOf({ series }: MetricAnswer): string | null {
  const sums = new Map<string, number>()
  for (const { part, points } of series) {
    if (part !== null) continue
    for (const { not_converted = [] } of points) {
      for (const { currency, milli = 0 } of not_converted)
        sums.set(currency, (sums.get(currency) ?? 0) + milli)
    }
  }
  if (sums.size === 0) return null
  return `Not converted, for want of an exchange rate: ${[...sums].map(([currency, milli]) => money(milli, currency)).join(', ')}.`
}

/** How many cost something that Apple has not told. */
export function unpricedOf(answer: MetricAnswer): string | null {
  const many = countOf(answer, 'unpriced')
  return many === 0 ? null : `${plural(many, 'transaction')} of unknown price left out.`
}

/** How many have no monthly value, because the period of their product is unknown. */
export function noPeriodOf(answer: MetricAnswer): string | null {
  const many = countOf(answer, 'no_period')
  return many === 0 ? null : noPeriod(many)
}

export const noPeriod = (many: number): string =>
  `${plural(many, 'subscription')} of unknown period left out: an App Store Connect key or Apple’s reports tell the period of a product.`

/** Of a level what stands at the end, of a flow all of it. */
function countOf({ series, kind }: MetricAnswer, part: string): number {
  const counts = series.find((one) => one.part === part)?.points.map(({ count }) => count ?? 0) ?? []
  return kind === 'level' ? (counts.at(-1) ?? 0) : counts.reduce((sum, one) => sum + one, 0)
}
