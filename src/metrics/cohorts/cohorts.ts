/** Reads cohorts: retention, realized LTV, ARPPU and billing recovery. */
import { assertWithin } from '../../access/metric_limit.ts'
import { Refusal } from '../../errors.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { Cutovers } from '../joined/cutovers.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import type { Shares } from '../reports/shares.ts'
import { ratioOf } from '../series/formula_lines.ts'
import type { CohortCellStore, CohortSum, PeriodSum } from './cells.ts'
import { ANY } from './changes.ts'
import type { CohortMetric } from './descriptions.ts'
import { cohortProceeds } from './proceeds.ts'
import { recoveryStats } from './recovery.ts'
import { renewalDay } from './renewal_days.ts'
import {
  type CohortQuery,
  clampRange,
  daysBetween,
  endOf,
  GRAIN_INDEX,
  GRAIN_START,
  isObserved,
  openScopes,
  type Span,
  spanBatches,
  spansOf,
  startOf,
} from './spans.ts'
import { perCustomer, type UnconvertedCohorts } from './unconverted.ts'

type Money = { charged_milli: number; refunded_milli: number; prorated_milli: number; net_milli: number }

/**
 * How many days after its due day a renewal is evaluated. A payment may fail at first, and Apple’s billing hour follows
 * clock changes.
 */
const EVALUATED_AFTER_DAYS = 3
const MAX_RENEWALS = 400
/** The maximum number of cohorts × columns in one answer. */
const MAX_CELLS = 20_000
const UNITS_PER_TURN = 400

export type Cohorts = ReturnType<typeof openCohorts>

type PayersQuery = CohortQuery & { grain: 'day' | 'week' | 'month' }

type Deps = {
  cells: CohortCellStore
  shares: Shares
  unconverted: UnconvertedCohorts
  observedFrom: Cutovers['observedFrom']
}

/** Opens the readers of cohorts. Each refuses a metric that its query may not read. */
export function openCohorts(deps: Deps) {
  const { retention, ltv, arppu, recovery, proceedsOfLtv, proceedsOfPayers } = openReaders(deps)
  return {
    scopesOf: openScopes(deps.observedFrom),
    retention: within('retention', retention),
    ltv: within('ltv', ltv),
    arppu: within('arppu', arppu),
    recovery: within('recovery', recovery),
    proceedsOfLtv: within('ltv', proceedsOfLtv),
    proceedsOfPayers: within('arppu', proceedsOfPayers),
  }
}

/** The reader, which throws a Refusal 403 `metric_not_shared` if its query may not read the metric. */
const within =
  <Query extends CohortQuery, Options extends unknown[], Answer>(
    name: CohortMetric,
    read: (query: Query, ...options: Options) => Answer,
  ) =>
  (query: Query, ...options: Options): Answer => {
    assertWithin(query.metrics, name)
    return read(query, ...options)
  }

function openReaders({ cells, shares, unconverted }: Deps) {
  /**
   * For each cohort of first payments and each period: how many subscriptions were paid one day after the k-th renewal was
   * due. `due`: for how many subscriptions this is known. `complete`: whether it is known for all.
   *
   * @throws Refusal 400 `invalid_request` for more than 20,000 renewals in all cohorts together.
   */
  async function retention(query: CohortQuery, today: DayNumber) {
    const table: RetentionRow[] = []
    let count = 0
    for await (const spans of spanBatches(query, today)) {
      const parts = cells.read({ ...query, ...clampRange(query, spans, today), kind: 'retention' })
      const rows = Map.groupBy(parts, ({ period, cohort }) => `${period}\n${startOf(query.grain, cohort)}`)
      for (const cohortParts of rows.values()) {
        const row = retentionRow(query, cohortParts, today)
        count += row.renewals.length
        if (row.size > 0) table.push(row)
      }
      assertCellCount(count, 'from')
    }
    return table.sort((a, b) => (`${a.period}${a.cohort}` < `${b.period}${b.cohort}` ? -1 : 1))
  }

  /**
   * For each cohort of customers by first payment: charges less refunds through each of `days` (ascending) after the first
   * payment, which is day 0. `complete`: whether that many days have passed for all customers of the cohort. `net`: the
   * proceeds to use instead of charges.
   *
   * @throws Refusal 400 `invalid_request` for more than 20,000 cohorts times days.
   */
  async function ltv(
    query: CohortQuery,
    days: readonly number[],
    today: DayNumber,
    net: readonly CohortSum[] | null = null,
  ) {
    assertCellCount(spansOf(query, today).length * days.length, 'days')
    const proceeds = net && Map.groupBy(net, ({ cohort }) => cohort)
    const waiting = await unconverted.read(query)
    const valuesOf = ({ cohort, from, until }: Span) => {
      const gross = cells.readMerged({ ...query, kind: 'ltv', from, until })
      const customers = gross.reduce((sum, { position, count }) => sum + (position === 0 ? count : 0), 0)
      if (customers === 0) return []
      const paid = proceeds ? daysBetween(from, until).flatMap((day) => proceeds.get(day) ?? []) : gross
      const ofCohort = waiting.filter(({ first }) => from <= first && first <= until)
      const values = runningSums(paid, days).map(({ day: position, ...money }) => ({
        days: position,
        ...money,
        ...perCustomer(money, customers, {
          isOver: until + position < today && isObserved(query, from),
          waiting: ofCohort.filter(({ first, day }) => day - first <= position && day <= today),
        }),
      }))
      return [{ cohort, customers, values }]
    }
    const table: ReturnType<typeof valuesOf> = []
    for await (const spans of spanBatches(query, today)) table.push(...spans.flatMap(valuesOf))
    return table
  }

  /** For each day, week or month: the revenue and the number of paying customers. `net`: see `ltv`. */
  async function arppu(query: PayersQuery, today: DayNumber, net: readonly CohortSum[] | null = null) {
    const { grain } = query
    const parts: CohortSum[] = []
    const cellQuery = payersQuery(query, today)
    for (let from = cellQuery.from; from <= cellQuery.until; from += UNITS_PER_TURN) {
      await yieldToEventLoop()
      parts.push(
        ...cells.read({ ...cellQuery, from, until: Math.min(from + UNITS_PER_TURN - 1, cellQuery.until) }),
      )
    }
    const proceeds = net && Map.groupBy(net, ({ cohort }) => cohort)
    const waiting = Map.groupBy(await unconverted.read(query), ({ day }) => GRAIN_INDEX[grain](day))
    return [...Map.groupBy(parts, ({ cohort }) => cohort)]
      .map(([unit, cohortParts]) => {
        const payers = cohortParts.reduce((sum, { count }) => sum + count, 0)
        const money = moneyOf(sumMoney(proceeds ? (proceeds.get(unit) ?? []) : cohortParts))
        const begin = GRAIN_START[grain](unit)
        const isOver = endOf(grain, begin) < today && isObserved(query, begin)
        const { per_customer_milli, ...rest } = perCustomer(money, payers, {
          isOver,
          waiting: (waiting.get(unit) ?? []).filter(({ day }) => day <= today),
        })
        return { cohort: dayText(begin), payers, ...money, per_payer_milli: per_customer_milli, ...rest }
      })
      .sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
  }

  /**
   * For each cohort of failed payments: how many Apple collected, after how many days on average, and how many were lost
   * or not collected within 60 days. The others are pending.
   */
  async function recovery(query: CohortQuery, today: DayNumber) {
    const table: RecoveryRow[] = []
    for await (const spans of spanBatches(query, today)) {
      const parts = cells.read({ ...query, ...clampRange(query, spans, today), kind: 'recovery' })
      for (const [begin, cohortParts] of Map.groupBy(parts, ({ cohort }) => startOf(query.grain, cohort))) {
        const stats = recoveryStats(cohortParts, today)
        const complete = stats.complete && isObserved(query, begin)
        const row = { cohort: dayText(begin), ...stats, complete }
        if (row.failed > 0) table.push(row)
      }
    }
    return table.sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
  }

  /** The proceeds for `ltv`, in total or of one product in one country. */
  function proceedsOfLtv(query: CohortQuery) {
    const kind = query.product_id === ANY && query.storefront === ANY ? 'ltv.parts' : 'ltv'
    return cohortProceeds(cells, shares, { ...query, kind }, ({ cohort, position }) => cohort + position)
  }

  /** The proceeds for `arppu`, converted at the end of each day, week or month, or today. */
  function proceedsOfPayers(query: PayersQuery, today: DayNumber) {
    const { grain } = query
    const dayOf = ({ cohort }: CohortSum) => Math.min(today, endOf(grain, GRAIN_START[grain](cohort)))
    return cohortProceeds(cells, shares, payersQuery(query, today), dayOf)
  }

  return { retention, ltv, arppu, recovery, proceedsOfLtv, proceedsOfPayers }
}

/** @throws Refusal 400 `invalid_request` if the table is too large. The message says which parameter to narrow. */
function assertCellCount(count: number, path: 'from' | 'days'): void {
  if (count <= MAX_CELLS) return
  const advice = path === 'days' ? 'use fewer `days`, a' : 'use a'
  const message = `the table would have more than ${MAX_CELLS} cells; ${advice} shorter range or longer cohorts (\`by\`)`
  throw new Refusal(400, 'invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}

type RetentionRow = ReturnType<typeof retentionRow>
type RecoveryRow = { cohort: string } & ReturnType<typeof recoveryStats>

function retentionRow(query: CohortQuery, cohortParts: readonly PeriodSum[], today: DayNumber) {
  const [{ cohort, period } = { cohort: 0, period: '' }] = cohortParts
  const begin = startOf(query.grain, cohort)
  return { cohort: dayText(begin), period, ...renewalsOf(cohortParts, today, isObserved(query, begin)) }
}

function renewalsOf(parts: readonly PeriodSum[], today: DayNumber, isWhole: boolean) {
  const days = [...Map.groupBy(parts, ({ cohort }) => cohort)]
    .map(([day, cohortParts]) => {
      const changes = new Map<number, number>()
      for (const { position, count } of cohortParts)
        changes.set(position, (changes.get(position) ?? 0) + count)
      return { day, size: changes.get(0) ?? 0, changes, held: 0 }
    })
    .sort((a, b) => a.day - b.day)
  const size = days.reduce((sum, one) => sum + one.size, 0)
  const period = parts[0]?.period ?? ''
  const isKnown = (day: DayNumber, k: number): boolean =>
    k === 0 || renewalDay(day, period, k) + EVALUATED_AFTER_DAYS <= today
  const renewals = []
  // Days ascend, so the days whose k-th renewal is known are the first ones.
  let known_count = days.length
  for (let k = 0; k < MAX_RENEWALS; k += 1) {
    for (const one of days) one.held += one.changes.get(k) ?? 0
    while (known_count > 0 && !isKnown(days[known_count - 1]?.day ?? 0, k)) known_count -= 1
    let due = 0
    let held = 0
    for (const one of days.slice(0, known_count)) {
      due += one.size
      held += one.held
    }
    if (due === 0) break
    renewals.push({ k, due, held, share: ratioOf(held, due), complete: due === size && isWhole })
  }
  return { size, renewals }
}

function payersQuery({ grain, from, until, ...query }: PayersQuery, today: DayNumber) {
  const unitOf = GRAIN_INDEX[grain]
  const kind = `payers.${grain}` as const
  return { ...query, kind, from: unitOf(from), until: unitOf(Math.min(until, today)) }
}

type MoneySums = Omit<Money, 'net_milli'>

/** The sums of all positions up to each of `days` (ascending). */
function runningSums(parts: readonly Omit<CohortSum, 'cohort'>[], days: readonly number[]) {
  const ordered = parts.toSorted((a, b) => a.position - b.position)
  let sum = sumMoney([])
  let at = 0
  return days.map((day) => {
    const before = at
    while (at < ordered.length && (ordered[at]?.position ?? 0) <= day) at += 1
    sum = sumMoney([sum, ...ordered.slice(before, at)])
    return { day, ...moneyOf(sum) }
  })
}

const moneyOf = ({ charged_milli, refunded_milli, prorated_milli }: MoneySums): Money => ({
  charged_milli,
  refunded_milli,
  prorated_milli,
  net_milli: charged_milli - refunded_milli - prorated_milli,
})

const sumMoney = (parts: readonly MoneySums[]): MoneySums =>
  parts.reduce(
    (sum, one) => ({
      charged_milli: sum.charged_milli + one.charged_milli,
      refunded_milli: sum.refunded_milli + one.refunded_milli,
      prorated_milli: sum.prorated_milli + one.prorated_milli,
    }),
    { charged_milli: 0, refunded_milli: 0, prorated_milli: 0 },
  )
