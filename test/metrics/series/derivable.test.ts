/** Every derivation holds over the figures of a simulated store. */
import { beforeAll, expect, test } from 'vitest'
import {
  DERIVATIONS,
  derivableFrom,
  SHARED_METRICS,
  type SharedMetric,
} from '../../../src/metrics/definitions/derivable.ts'
import type { Point } from '../../../src/metrics/series/points.ts'
import { type GetMetric, openMetricReader, pointsOf } from '../reports/compare_metrics.ts'
import { type Late, NOW, openLate } from '../reports/late_connection.ts'

const DAY = 86_400_000
const FROM = NOW - 150 * DAY
const dayText = (at: number): string => new Date(at).toISOString().slice(0, 10)
/** All days, and the day before the first. */
const RANGE = `from=${dayText(FROM - 2 * DAY)}&to=${dayText(NOW - DAY)}&interval=day`

let late: Late
let metric: GetMetric
beforeAll(async () => {
  late = await openLate({ subscribers: 150, from: FROM, connected: FROM, is_plain: true })
  await late.live(NOW)
  await late.importAll()
  metric = await openMetricReader(late)
}, 120_000)

type Column = 'milli' | 'count' | 'ratio' | 'numerator' | 'denominator'
type Values = (number | null)[]
async function column(name: string, of: Column, { part = null as string | null, query = '' } = {}) {
  const answer = await metric(
    `${name}?${query.includes('&to=') ? RANGE.replace(/&to=[^&]*/, '') : RANGE}${query}`,
  )
  return pointsOf(answer, part).map((point: Point) => point[of] ?? null)
}

type CohortRow = { cohort: string; net_milli: number; customers: number; size: number; values: Money[] }
type Money = { days: number; net_milli: number }
async function cohorts(name: string, query = ''): Promise<CohortRow[]> {
  const headers = { authorization: `Bearer ${await late.token()}` }
  const path = `/api/v1/cohorts?metric=${name}&by=day&from=${dayText(FROM - 2 * DAY)}${query}`
  const body = (await (await late.request(path, { headers })).json()) as { cohorts: CohortRow[] }
  return body.cohorts
}

const each = (all: Values[], of: (...values: number[]) => number | null): Values =>
  (all[0] ?? []).map((_, at) => {
    const values = all.map((one) => one[at] ?? null)
    return values.some((one) => one === null) ? null : of(...(values as number[]))
  })
const differences = (values: Values): Values =>
  values.map((value, at) => (value === null ? null : value - (values[at - 1] ?? 0)))
const running = (values: Values): Values => {
  let sum = 0
  return values.map((value) => {
    sum += value ?? 0
    return sum
  })
}
async function sumOfParts(name: string, of: Column, parts: readonly string[]): Promise<Values> {
  const columns: Values[] = []
  // A token runs two queries at once.
  for (const part of parts) columns.push(await column(name, of, { part, query: `&part=${part}` }))
  return each(columns, (...values) => values.reduce((one, other) => one + other, 0))
}
/** The values at the end of each day, from those at its start. */
const ends = (values: Values): Values => [...values.slice(1), null]
const six = (value: number): number => Math.round(value * 1e6) / 1e6

const days = (): string[] => {
  const first = FROM - 2 * DAY
  return Array.from({ length: Math.floor((NOW - DAY - first) / DAY) + 1 }, (_, at) =>
    dayText(first + at * DAY),
  )
}

/** How each figure follows, by what it gives and what it follows from. */
const CHECKS: Record<string, () => Promise<[derived: Values, shown: Values]>> = {
  'arr < mrr': async () => [
    each([await column('mrr', 'milli')], (mrr) => mrr * 12),
    await column('arr', 'milli'),
  ],
  'mrr < arr': async () => [
    each([await column('arr', 'milli')], (arr) => arr / 12),
    await column('mrr', 'milli'),
  ],
  'net_new_mrr < mrr': async () => [
    differences(await column('mrr', 'milli')),
    await column('net_new_mrr', 'milli'),
  ],
  'mrr < net_new_mrr': async () => [
    running(await column('net_new_mrr', 'milli')),
    await column('mrr', 'milli'),
  ],
  'net_new_mrr < mrr_movements': async () => [
    await column('mrr_movements', 'milli'),
    await column('net_new_mrr', 'milli'),
  ],
  'quick_ratio < mrr_movements': async () => {
    const churn = ['churn_voluntary', 'churn_billing', 'churn_refund', 'churn_other']
    const gains = await sumOfParts('mrr_movements', 'milli', ['new', 'resubscribe', 'expansion'])
    const losses = await sumOfParts('mrr_movements', 'milli', ['contraction', ...churn])
    const ratio = each([gains, losses], (gained, lost) => (lost === 0 ? null : six(gained / -lost)))
    return [ratio, await column('quick_ratio', 'ratio')]
  },
  'mrr < mrr_churn_rate': async () => [
    ends(await column('mrr_churn_rate', 'denominator')),
    await column('mrr', 'milli'),
  ],
  'active_subscriptions < churn_rate': async () => [
    ends(await column('churn_rate', 'denominator')),
    await column('active_subscriptions', 'count'),
  ],
  'active_subscriptions < status': async () => [
    await sumOfParts('status', 'count', ['renewing', 'committed', 'will_cancel', 'grace']),
    await column('active_subscriptions', 'count'),
  ],
  'new_trials < trial_conversion': async () => [
    await column('trial_conversion', 'denominator', { query: '&view=cohort' }),
    await column('new_trials', 'count'),
  ],
  'active_trials < trial_conversion': async () => {
    // Trials are pending now, so the level is that of today.
    const today = `&to=${dayText(NOW)}`
    const pending = await column('trial_conversion', 'numerator', {
      part: 'pending',
      query: `&view=cohort&part=pending${today}`,
    })
    return [running(pending).slice(-1), (await column('active_trials', 'count', { query: today })).slice(-1)]
  },
  'trial_conversion < new_trials, active_trials, first_payments': async () => {
    const won = await column('first_payments', 'count', { part: 'after_trial', query: '&part=after_trial' })
    const change = differences(await column('active_trials', 'count'))
    const began = await column('new_trials', 'count')
    const ended = each([began, change], (trials, more) => trials - more)
    return [
      each([won, ended], (paid, over) => (over === 0 ? null : six(paid / over))),
      await column('trial_conversion', 'ratio'),
    ]
  },
  'new_trials < download_to_trial': async () => [
    await column('download_to_trial', 'numerator'),
    await column('new_trials', 'count'),
  ],
  'downloads < download_to_trial': async () => [
    await column('download_to_trial', 'denominator'),
    await column('downloads', 'count'),
  ],
  'first_payments < download_to_paid': async () => [
    await column('download_to_paid', 'numerator'),
    await column('first_payments', 'count'),
  ],
  'downloads < download_to_paid': async () => [
    await column('download_to_paid', 'denominator'),
    await column('downloads', 'count'),
  ],
  'download_to_trial < new_trials, downloads': async () => [
    each([await column('new_trials', 'count'), await column('downloads', 'count')], (above, below) =>
      below === 0 ? null : six(above / below),
    ),
    await column('download_to_trial', 'ratio'),
  ],
  'download_to_paid < first_payments, downloads': async () => [
    each([await column('first_payments', 'count'), await column('downloads', 'count')], (above, below) =>
      below === 0 ? null : six(above / below),
    ),
    await column('download_to_paid', 'ratio'),
  ],
  'revenue < arppu': async () => {
    const byDay = new Map((await cohorts('arppu')).map((one) => [one.cohort, one.net_milli]))
    return [days().map((on) => byDay.get(on) ?? 0), await column('revenue', 'milli')]
  },
  'revenue < ltv': async () => {
    const ages = days().map((_, at) => at)
    const byDay = new Map<string, number>()
    for (let first = 0; first < ages.length; first += 50) {
      const asked = ages.slice(Math.max(0, first - 1), first + 50)
      for (const { cohort, values } of await cohorts('ltv', `&days=${asked.join(',')}`))
        for (const [at, { days: age, net_milli }] of values.entries()) {
          const before = age === 0 ? 0 : values[at - 1]?.net_milli
          if (before === undefined) continue
          const on = dayText(Date.parse(cohort) + age * DAY)
          byDay.set(on, (byDay.get(on) ?? 0) + net_milli - before)
        }
    }
    return [days().map((on) => byDay.get(on) ?? 0), await column('revenue', 'milli')]
  },
  'first_payments < retention': async () => {
    const byDay = new Map<string, number>()
    for (const { cohort, size } of await cohorts('retention'))
      byDay.set(cohort, (byDay.get(cohort) ?? 0) + size)
    return [days().map((on) => byDay.get(on) ?? 0), await column('first_payments', 'count')]
  },
  'MRR per subscription < mrr, active_subscriptions': async () => {
    const mrr = await column('mrr', 'milli')
    const count = await column('active_subscriptions', 'count')
    const ratio = each([mrr, count], (above, below) => (below === 0 ? null : above / below))
    const total = (await metric(`mrr?${RANGE}`)).series[0]?.points ?? []
    return [
      ratio,
      total.map(({ milli, count: subscriptions }) => (subscriptions ? (milli ?? 0) / subscriptions : null)),
    ]
  },
}

const labelOf = ({ gives, title, from }: (typeof DERIVATIONS)[number]) =>
  `${gives ?? title} < ${from.join(', ')}`

test.each(DERIVATIONS.map((one) => [labelOf(one)]))('%s', async (label) => {
  const check = CHECKS[label]
  if (check === undefined) throw new Error(`no check of ${label}`)
  const [derived, shown] = await check()
  const known = derived.flatMap((one, at) => {
    const other = shown[at] ?? null
    return one === null || other === null ? [] : [[one, other] as const]
  })
  expect(known.length).toBeGreaterThan(derived.length === 1 ? 0 : 10)
  expect(known.some(([one]) => one !== 0)).toBe(true)
  expect(known.filter(([one, other]) => Math.abs(one - other) > 1e-6)).toEqual([])
})

test('what follows from a figure that follows is named, each once, and nothing that the link shows', () => {
  const given = (shared: readonly SharedMetric[]) =>
    derivableFrom(shared).map(({ gives, title, from }) => [gives ?? title, from.join()])
  expect(given(['arr'])).toEqual([
    ['mrr', 'arr'],
    ['net_new_mrr', 'mrr'],
  ])
  expect(given(['mrr', 'active_subscriptions'])).toEqual([
    ['arr', 'mrr'],
    ['net_new_mrr', 'mrr'],
    ['MRR per subscription', 'mrr,active_subscriptions'],
  ])
  expect(given(['revenue', 'refund_rate', 'recovery'])).toEqual([])
  expect(given(SHARED_METRICS)).toEqual([['MRR per subscription', 'mrr,active_subscriptions']])
})
