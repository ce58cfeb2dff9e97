/** Reads cohorts: retention, realized LTV, ARPPU and billing recovery. */
import { assertWithin } from '../../access/metric_limit.ts'
import { Refusal } from '../../errors.ts'
import type { Basis } from '../../money.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { AmountSources } from '../joined/amount_sources.ts'
import type { Cutovers } from '../joined/cutovers.ts'
import { type DayNumber, dayText } from '../lineage/calendar.ts'
import { CERTAINTIES } from '../lineage/proceeds.ts'
import { ratioOf } from '../series/formula_lines.ts'
import type { CohortCellStore, CohortSum, PeriodSum } from './cells.ts'
import type { MoneySums } from './changes.ts'
import type { CohortMetric } from './descriptions.ts'
import { type KnownProceeds, type PayersQuery, payersProceeds } from './payers_proceeds.ts'
import { recoveryStats } from './recovery.ts'
import { renewalDay } from './renewal_days.ts'
import {
  type CohortQuery,
  daysOf,
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
import { perCustomer, type UnconvertedCohorts, type UnconvertedMoney } from './unconverted.ts'

type Money = MoneySums & { net_milli: number }

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

type Deps = {
  cells: CohortCellStore
  unconverted: UnconvertedCohorts
  proceedsOfLedger: AmountSources['proceedsOfLedger']
  observedFrom: Cutovers['observedFrom']
}

/** Opens the readers of cohorts. Each refuses a metric that its query may not read. */
export function openCohorts(deps: Deps) {
  const { retention, ltv, arppu, recovery } = openReaders(deps)
  return {
    scopesOf: openScopes(deps.observedFrom),
    retention: within('retention', retention),
    ltv: within('ltv', ltv),
    arppu: within('arppu', arppu),
    recovery: within('recovery', recovery),
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

function openReaders({ cells, unconverted, proceedsOfLedger }: Deps) {
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
      const parts = cells.read({ ...query, ...daysOf(spans, today), kind: 'retention' })
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
   * payment, which is day 0. `complete`: whether that many days have passed for all customers of the cohort.
   *
   * @throws Refusal 400 `invalid_request` for more than 20,000 cohorts times days.
   */
  async function ltv(query: CohortQuery, days: readonly number[], today: DayNumber, basis: Basis = 'gross') {
    assertCellCount(spansOf(query, today).length * days.length, 'days')
    const known: KnownProceeds | null = basis === 'proceeds' ? { exact: 0, ratio: 0, estimated: 0 } : null
    const waiting = await unconverted.read(query, { basis, today })
    const valuesOf = ({ cohort, from, until }: Span) => {
      const gross = cells.readMerged({ ...query, kind: 'ltv', from, until })
      const customers = gross.reduce((sum, { position, count }) => sum + (position === 0 ? count : 0), 0)
      if (customers === 0) return []
      const paid = known === null ? gross : ltvProceeds({ ...query, from, until }, known)
      const values = ltvValues(runningSums(paid, days), customers, {
        passed: isObserved(query, from) ? today - until : 0,
        waiting: waiting.filter((one) => Math.max(from, one.known_from) <= one.first && one.first <= until),
      })
      return [{ cohort, customers, values }]
    }
    const rows: ReturnType<typeof valuesOf> = []
    for await (const spans of spanBatches(query, today)) rows.push(...spans.flatMap(valuesOf))
    return { rows, known }
  }

  /** The proceeds of a cohort by position. Adds them to `known`. */
  function ltvProceeds(query: CohortQuery, known: KnownProceeds): Omit<CohortSum, 'cohort'>[] {
    return CERTAINTIES.flatMap((basis) => {
      const sums = cells.readMerged({ ...query, kind: `ltv.${basis}` })
      known[basis] += moneyOf(sumMoney(sums)).net_milli
      return sums
    })
  }

  /** For each day, week or month: the revenue and the number of paying customers. */
  async function arppu(query: PayersQuery, today: DayNumber, basis: Basis = 'gross') {
    const { grain } = query
    const parts: CohortSum[] = []
    const cellQuery = payersQuery(query, today)
    for (let from = cellQuery.from; from <= cellQuery.until; from += UNITS_PER_TURN) {
      await yieldToEventLoop()
      parts.push(
        ...cells.read({ ...cellQuery, from, until: Math.min(from + UNITS_PER_TURN - 1, cellQuery.until) }),
      )
    }
    const proceeds = basis === 'proceeds' ? await payersProceeds(proceedsOfLedger, query, today) : null
    const waiting = await unconverted.read(query, { basis, today })
    const waitingIn = Map.groupBy(waiting, ({ day }) => GRAIN_INDEX[grain](day))
    const rows = [...Map.groupBy(parts, ({ cohort }) => cohort)]
      .map(([unit, cohortParts]) => {
        const payers = cohortParts.reduce((sum, { count }) => sum + count, 0)
        const money = moneyOf(proceeds ? (proceeds.sums.get(unit) ?? NO_MONEY) : sumMoney(cohortParts))
        const begin = GRAIN_START[grain](unit)
        const end = endOf(grain, begin)
        const { per_customer_milli: per_payer_milli, ...rest } = perCustomer(money, payers, {
          isOver: end < today && isObserved(query, begin),
          waiting: (waitingIn.get(unit) ?? []).filter(({ known_from }) => known_from <= end),
        })
        return { cohort: dayText(begin), payers, ...money, per_payer_milli, ...rest }
      })
      .sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
    return { rows, known: proceeds?.known ?? null }
  }

  /**
   * For each cohort of failed payments: how many Apple collected, after how many days on average, and how many were lost
   * or not collected within 60 days. The others are pending.
   */
  async function recovery(query: CohortQuery, today: DayNumber) {
    const table: RecoveryRow[] = []
    for await (const spans of spanBatches(query, today)) {
      const parts = cells.read({ ...query, ...daysOf(spans, today), kind: 'recovery' })
      for (const [begin, cohortParts] of Map.groupBy(parts, ({ cohort }) => startOf(query.grain, cohort))) {
        const row = { cohort: dayText(begin), ...recoveryStats(cohortParts, today, isObserved(query, begin)) }
        if (row.failed > 0) table.push(row)
      }
    }
    return table.sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
  }

  return { retention, ltv, arppu, recovery }
}

/** @throws Refusal 400 `invalid_request` if the table is too large. The message says which parameter to narrow. */
function assertCellCount(count: number, path: 'from' | 'days'): void {
  if (count <= MAX_CELLS) return
  const advice = path === 'days' ? 'use fewer `days`, a' : 'use a'
  const message = `the table would have more than ${MAX_CELLS} cells; ${advice} shorter range or longer cohorts (\`by\`)`
  throw new Refusal(400, 'invalid_request', `${path}: ${message}`, { errors: [{ path, message }] })
}

type LtvSum = ReturnType<typeof runningSums>[number]
/**
 * `passed`: the values of fewer days than this are over for all customers. `waiting`: the amounts of the cohort that no rate
 * is known for.
 */
type LtvOptions = { passed: number; waiting: readonly UnconvertedMoney[] }

/** The values of one cohort. */
const ltvValues = (sums: readonly LtvSum[], customers: number, { passed, waiting }: LtvOptions) =>
  sums.map(({ day: days, ...money }) => ({
    days,
    ...money,
    ...perCustomer(money, customers, {
      isOver: days < passed,
      waiting: waiting.filter(({ first, day }) => day - first <= days),
    }),
  }))

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

const NO_MONEY: MoneySums = { charged_milli: 0, refunded_milli: 0, prorated_milli: 0 }

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
    NO_MONEY,
  )
