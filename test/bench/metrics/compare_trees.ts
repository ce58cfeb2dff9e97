/** Measures the cost of updating metrics in this checkout and, with `--against`, in another one, in turns. */
import { copyFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { type Bench, CONNECTIONS, interleave, NODE_OPTIONS_OF_START } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { openRenewals } from '../business/renewals.ts'
import { atMost, costAgainst, type Figure, median, p99, speedAgainst } from '../figures.ts'
import type { CheckoutRequest, Work } from './checkout.ts'
import { YEAR } from './metrics.ts'

const CURRENT_ROOT = resolve(fileURLToPath(import.meta.url), '../../../..')
/** Renewals of each subscription in a burst. */
const RENEWALS_EACH = 5
const MAX_TURN_MS = 50

const CHARTS = METRIC_NAMES.map((metric) => `/api/v1/metrics/${metric}?${YEAR}`)

type CheckoutProcess = ReturnType<Bench['start']>
type Payloads = { one: string[]; five: string[]; long: string[]; burst: string[] }
/** One value per round from this checkout and from the other one. `other` is empty without another checkout. */
type Values = { current: number[]; other: number[] }

/** The measurements of one round in one checkout. */
type Round = { one: Work; five: Work; long: Work; burst: Burst; charts: number[] }
type Burst = Work & { drained_seconds: number; per_second: number }

async function withCheckout<Result>(
  bench: Bench,
  work: (checkout: CheckoutProcess) => Promise<Result>,
): Promise<Result> {
  const checkout = bench.start('metrics/checkout.ts', NODE_OPTIONS_OF_START)
  try {
    return await work(checkout)
  } finally {
    await checkout.close()
  }
}

const requester =
  (checkout: CheckoutProcess) =>
  <Answer>(message: CheckoutRequest): Promise<Answer> =>
    checkout.request<Answer>(message)

/** Writes the business with the schema of the checkout at `root`, and computes its metrics. */
async function prepare(bench: Bench, root: string, roots: readonly string[]) {
  const { upkeep } = bench.sizes
  const file = bench.newFile()
  const { subscriptions, apps, renewals } = upkeep
  await withCheckout(bench, (checkout) =>
    requester(checkout)({ write: { root, file, subscriptions, apps, renewals } }),
  )
  const work = await withCheckout(bench, async (checkout) => {
    await requester(checkout)({ open: { root, file, roots } })
    return requester(checkout)<Work>({ rebuild: true })
  })
  bench.print(`upkeep: ${root} computed ${subscriptions} subscriptions in ${work.seconds.toFixed(1)} s`)
  return { root, file, work }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** Measures on a copy of the file, so that each round starts with the same data. */
async function measureRound(
  bench: Bench,
  { root, file }: Prepared,
  payloads: Payloads,
  roots: readonly string[],
): Promise<Round> {
  const copy = bench.newFile()
  copyFileSync(file, copy)
  return withCheckout(bench, async (checkout) => {
    const request = requester(checkout)
    const { url } = await request<{ url: string }>({ open: { root, file: copy, roots } })
    const { times: charts } = await request<{ times: number[] }>({
      charts: bench.sizes.chart_repeats,
      paths: CHARTS,
    })
    const one = await request<Work>({ apply: payloads.one })
    const five = await request<Work>({ apply: payloads.five })
    const long = await request<Work>({ apply: payloads.long })
    return { one, five, long, burst: await measureBurst(bench, checkout, url, payloads.burst), charts }
  })
}

async function measureBurst(
  bench: Bench,
  checkout: CheckoutProcess,
  url: string,
  payloads: readonly string[],
): Promise<Burst> {
  const request = requester(checkout)
  const bodies = payloads.map((signedPayload) => JSON.stringify({ signedPayload }))
  const load = { call: 'notify', url, connections: CONNECTIONS, bodies } as const
  await request({ watch: true })
  const whole_load = { warm_seconds: 0, seconds: Number.POSITIVE_INFINITY }
  const { per_second } = await bench.measure({ ...load, ...whole_load })
  return { ...(await request<Work & { drained_seconds: number }>({ drain: true })), per_second }
}

/** A figure with an upper limit; with another checkout, compared with its values. */
function lowerIsBetter(
  figure: string,
  unit: string,
  { current, other }: Values,
  at_most: number | null = null,
): Figure[] {
  const current_figure = atMost(figure, median(current), unit, at_most)
  if (other.length === 0) return [current_figure]
  const compared = costAgainst(figure, unit, current, { name: 'the other checkout', values: other }, null)
  return [
    {
      ...current_figure,
      ...(compared.baseline && { baseline: compared.baseline }),
      ...(compared.ratio && { ratio: compared.ratio }),
    },
  ]
}

type Measure = { figure: string; unit: string; value: (round: Round) => number; at_most?: number }

const cpuEach = ({ cpu_seconds }: Work, { length }: readonly string[]): number => (cpu_seconds * 1e6) / length

const measuresOf = ({ one, five, burst }: Payloads): Measure[] => [
  {
    figure: 'a notification applied, one per subscription',
    unit: 'µs',
    value: (round) => cpuEach(round.one, one),
  },
  {
    figure: `a notification applied, ${RENEWALS_EACH} per subscription`,
    unit: 'µs',
    value: (round) => cpuEach(round.five, five),
  },
  {
    figure: 'a notification of the burst over HTTP',
    unit: 'µs',
    value: (round) => cpuEach(round.burst, burst),
  },
  {
    figure: 'time after the burst until no figure is due',
    unit: 's',
    value: (round) => round.burst.drained_seconds,
  },
  {
    figure: 'longest turn of the event loop, burst',
    unit: 'ms',
    value: ({ burst: { longest_turn_ms } }) => longest_turn_ms,
    at_most: MAX_TURN_MS,
  },
  {
    figure: 'longest turn of the event loop, one per subscription',
    unit: 'ms',
    value: (round) => round.one.longest_turn_ms,
    at_most: MAX_TURN_MS,
  },
  {
    figure: 'longest turn of the event loop, subscription with the most renewals',
    unit: 'ms',
    value: ({ long: { longest_turn_ms } }) => longest_turn_ms,
    at_most: MAX_TURN_MS,
  },
  {
    figure: 'a year by day, all metrics, median',
    unit: 'ms',
    value: ({ charts }) => median(charts),
    at_most: 10,
  },
  { figure: 'a year by day, all metrics, p99', unit: 'ms', value: ({ charts }) => p99(charts), at_most: 25 },
]

function figuresOf(rounds: { current: Round[]; other: Round[] }, payloads: Payloads): Figure[] {
  const valuesOf = (value: (round: Round) => number): Values => ({
    current: rounds.current.map(value),
    other: rounds.other.map(value),
  })
  const { current, other } = valuesOf(({ burst }) => burst.per_second)
  const rate_name = `a burst of ${payloads.burst.length} notifications over HTTP`
  return [
    other.length > 0
      ? speedAgainst(rate_name, current, { name: 'the other checkout', values: other }, null)
      : atMost(rate_name, median(current), 'per second', null),
    ...measuresOf(payloads).flatMap(({ figure, unit, value, at_most = null }) =>
      lowerIsBetter(figure, unit, valuesOf(value), at_most),
    ),
  ]
}

/** Measures a rebuild of all metrics, then rounds of notifications, in this checkout and the one of `--against`. */
export async function compareUpkeep(bench: Bench): Promise<Figure[]> {
  const { upkeep } = bench.sizes
  const authority = await openAuthority({ now: BUSINESS_UNTIL })
  const roots = [authority.root_pem]
  const renewals = openRenewals(authority, upkeep.subscriptions)
  const payloads = {
    one: renewals.take(upkeep.notifications, 1),
    five: renewals.take(upkeep.notifications, RENEWALS_EACH),
    long: renewals.takeLong(upkeep.renewals),
    burst: renewals.take(upkeep.burst, RENEWALS_EACH),
  }
  const current = await prepare(bench, CURRENT_ROOT, roots)
  const other = bench.against === null ? null : await prepare(bench, bench.against, roots)
  const contenders: Record<string, () => Promise<Round>> = {
    current: () => measureRound(bench, current, payloads, roots),
    ...(other && { other: () => measureRound(bench, other, payloads, roots) }),
  }
  const { current: currentRounds = [], other: otherRounds = [] } = await interleave(upkeep.rounds, contenders)
  const rebuilt = (value: (work: Work) => number): Values => ({
    current: [value(current.work)],
    other: other === null ? [] : [value(other.work)],
  })
  const name = `rebuild of ${upkeep.subscriptions} subscriptions`
  return [
    ...lowerIsBetter(
      name,
      's',
      rebuilt(({ seconds }) => seconds),
    ),
    ...lowerIsBetter(
      `${name}, processor time`,
      's',
      rebuilt(({ cpu_seconds }) => cpu_seconds),
    ),
    ...lowerIsBetter(
      'longest turn of the event loop, rebuild',
      'ms',
      rebuilt(({ longest_turn_ms }) => longest_turn_ms),
      MAX_TURN_MS,
    ),
    ...figuresOf({ current: currentRounds, other: otherRounds }, payloads),
  ]
}
