/** Compares the cost of updating figures between this tree and another checkout, in turns. */
import { copyFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { type Bench, CONNECTIONS, inTurn, NODE_OPTIONS_OF_START } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { openRenewals } from '../business/renewals.ts'
import { below, type Figure, faster, median, within } from '../figures.ts'
import type { CheckoutRequest, Work } from './checkout.ts'
import { YEAR } from './metrics.ts'

const HERE = resolve(fileURLToPath(import.meta.url), '../../../..')
/** A burst brings so many renewals of each subscription. */
const FACTS = 5
const MOST_TURN_MS = 50

const CHARTS = METRIC_NAMES.map((metric) => `/api/v1/metrics/${metric}?${YEAR}`)

type Host = ReturnType<Bench['start']>
type Payloads = { one: string[]; five: string[]; long: string[]; burst: string[] }
/** The same measure in this checkout and in the other, a value per round. `other` is empty where there is no other checkout. */
type Sides = { own: number[]; other: number[] }

/** What one round measures in one checkout. */
type Round = { one: Work; five: Work; long: Work; burst: Burst; charts: number[] }
type Burst = Work & { drained_seconds: number; per_second: number }

async function withHost<Result>(workshop: Bench, work: (host: Host) => Promise<Result>): Promise<Result> {
  const host = workshop.start('metrics/checkout.ts', NODE_OPTIONS_OF_START)
  try {
    return await work(host)
  } finally {
    await host.close()
  }
}

const requester =
  (host: Host) =>
  <Answer>(question: CheckoutRequest): Promise<Answer> =>
    host.request<Answer>(question)

/** Writes the business as this checkout keeps it, and counts all of it. */
async function prepare(workshop: Bench, root: string, roots: readonly string[]) {
  const { upkeep } = workshop.sizes
  const file = workshop.newFile()
  const { subscriptions, apps, renewals } = upkeep
  await withHost(workshop, (host) =>
    requester(host)({ write: { root, file, subscriptions, apps, renewals } }),
  )
  const work = await withHost(workshop, async (host) => {
    await requester(host)({ open: { root, file, roots } })
    return requester(host)<Work>({ rebuild: true })
  })
  workshop.print(`upkeep: ${root} counted ${subscriptions} subscriptions in ${work.seconds.toFixed(1)} s`)
  return { root, file, work }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** On a copy of its file, so that each round begins alike. */
async function round(
  workshop: Bench,
  { root, file }: Prepared,
  payloads: Payloads,
  roots: readonly string[],
): Promise<Round> {
  const copy = workshop.newFile()
  copyFileSync(file, copy)
  return withHost(workshop, async (host) => {
    const request = requester(host)
    const { url } = await request<{ url: string }>({ open: { root, file: copy, roots } })
    const { times: charts } = await request<{ times: number[] }>({
      charts: workshop.sizes.chart_turns,
      paths: CHARTS,
    })
    const one = await request<Work>({ apply: payloads.one })
    const five = await request<Work>({ apply: payloads.five })
    const long = await request<Work>({ apply: payloads.long })
    return { one, five, long, burst: await burst(workshop, host, url, payloads.burst), charts }
  })
}

async function burst(workshop: Bench, host: Host, url: string, payloads: readonly string[]): Promise<Burst> {
  const request = requester(host)
  const bodies = payloads.map((signedPayload) => JSON.stringify({ signedPayload }))
  const load = { call: 'notify', url, connections: CONNECTIONS, bodies } as const
  await request({ watch: true })
  const whole = { warm_seconds: 0, seconds: Number.POSITIVE_INFINITY }
  const { per_second } = await workshop.measure({ ...load, ...whole })
  return { ...(await request<Work & { drained_seconds: number }>({ drain: true })), per_second }
}

/** A figure that is the better the smaller it is, against the same in the other checkout where there is one. */
function less(figure: string, unit: string, { own, other }: Sides, at_most: number | null = null): Figure[] {
  const figureHere = below(figure, median(own), unit, at_most)
  if (other.length === 0) return [figureHere]
  const beside = within(figure, unit, own, { name: 'the other checkout', values: other }, null)
  return [
    {
      ...figureHere,
      ...(beside.floor && { floor: beside.floor }),
      ...(beside.ratio && { ratio: beside.ratio }),
    },
  ]
}

type Measure = { figure: string; unit: string; value: (round: Round) => number; at_most?: number }

const each = ({ cpu_seconds }: Work, { length }: readonly string[]): number => (cpu_seconds * 1e6) / length

const measuresOf = ({ one, five, burst }: Payloads): Measure[] => [
  {
    figure: 'a notification applied, one of a subscription',
    unit: 'µs',
    value: (round) => each(round.one, one),
  },
  {
    figure: `a notification applied, ${FACTS} of a subscription`,
    unit: 'µs',
    value: (round) => each(round.five, five),
  },
  {
    figure: 'a notification of the burst, over HTTP',
    unit: 'µs',
    value: (round) => each(round.burst, burst),
  },
  {
    figure: 'after the burst, until nothing is due',
    unit: 's',
    value: (round) => round.burst.drained_seconds,
  },
  {
    figure: 'the longest turn of the event loop, in the burst',
    unit: 'ms',
    value: ({ burst: { longest_turn_ms } }) => longest_turn_ms,
    at_most: MOST_TURN_MS,
  },
  {
    figure: 'the longest turn, one of a subscription',
    unit: 'ms',
    value: (round) => round.one.longest_turn_ms,
    at_most: MOST_TURN_MS,
  },
  {
    figure: 'the longest turn, of the subscription with most renewals',
    unit: 'ms',
    value: ({ long: { longest_turn_ms } }) => longest_turn_ms,
    at_most: MOST_TURN_MS,
  },
  {
    figure: 'a year by day of any metric, median',
    unit: 'ms',
    value: ({ charts }) => median(charts),
    at_most: 10,
  },
  {
    figure: 'a year by day of any metric, p99',
    unit: 'ms',
    value: ({ charts }) => worstHundredth(charts),
    at_most: 25,
  },
]

function figuresOf(rounds: { own: Round[]; other: Round[] }, payloads: Payloads): Figure[] {
  const sides = (value: (round: Round) => number): Sides => ({
    own: rounds.own.map(value),
    other: rounds.other.map(value),
  })
  const { own, other } = sides(({ burst }) => burst.per_second)
  const answered = `a burst of ${payloads.burst.length} notifications, answered`
  return [
    other.length > 0
      ? faster(answered, own, { name: 'the other checkout', values: other }, null)
      : below(answered, median(own), 'a second', null),
    ...measuresOf(payloads).flatMap(({ figure, unit, value, at_most = null }) =>
      less(figure, unit, sides(value), at_most),
    ),
  ]
}

const worstHundredth = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN

/** Everything counted from the facts, then rounds of notifications; each here and there where `--against` names one. */
export async function measureAgainst(workshop: Bench): Promise<Figure[]> {
  const { upkeep } = workshop.sizes
  const authority = await openAuthority({ now: BUSINESS_UNTIL })
  const roots = [authority.root_pem]
  const renewals = openRenewals(authority, upkeep.subscriptions)
  const payloads = {
    one: renewals.take(upkeep.notifications, 1),
    five: renewals.take(upkeep.notifications, FACTS),
    long: renewals.ofLong(upkeep.renewals),
    burst: renewals.take(upkeep.burst, FACTS),
  }
  const own = await prepare(workshop, HERE, roots)
  const other = workshop.against === null ? null : await prepare(workshop, workshop.against, roots)
  const contenders: Record<string, () => Promise<Round>> = {
    own: () => round(workshop, own, payloads, roots),
    ...(other && { other: () => round(workshop, other, payloads, roots) }),
  }
  const { own: ownRounds = [], other: otherRounds = [] } = await inTurn(upkeep.rounds, contenders)
  const rebuilt = (value: (work: Work) => number): Sides => ({
    own: [value(own.work)],
    other: other === null ? [] : [value(other.work)],
  })
  const name = `${upkeep.subscriptions} subscriptions counted anew`
  return [
    ...less(
      name,
      's',
      rebuilt(({ seconds }) => seconds),
    ),
    ...less(
      `${name}, processor`,
      's',
      rebuilt(({ cpu_seconds }) => cpu_seconds),
    ),
    ...less(
      'the longest turn of the event loop, meanwhile',
      'ms',
      rebuilt(({ longest_turn_ms }) => longest_turn_ms),
      MOST_TURN_MS,
    ),
    ...figuresOf({ own: ownRounds, other: otherRounds }, payloads),
  ]
}
