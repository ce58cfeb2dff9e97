/** What we remember: how customers and subscriptions that began together fared: kept, paid, recovered. */
import { type DayNumber, dayText, monthOf, weekOf } from '../calendar.ts'
import { ratioOf } from '../formula_lines.ts'
import type { Shares } from '../reported/shares.ts'
import type { CohortSum, Scope } from './cells.ts'
import { ANY } from './changes.ts'
import { compareCohorts } from './comparison.ts'
import { RETRIED_DAYS } from './failures.ts'
import { proceedsOf } from './proceeds.ts'
import { renewalDay } from './renewal_days.ts'
import { openSpreads } from './spreads.ts'

export const GRAINS = ['day', 'week', 'month', 'year'] as const
export type Grain = (typeof GRAINS)[number]

/** `from` and `until` are days, both within. `product_id` and `storefront` are `*` for any. */
export type CohortQuestion = {
  scopes: readonly Scope[]
  grain: Grain
  product_id: string
  storefront: string
  from: DayNumber
  until: DayNumber
}

type Part = CohortSum & { period: string }
type Money = { charged_milli: number; refunded_milli: number; prorated_milli: number; net_milli: number }

/** Apple's hours move with the clocks, and a payment may fail at first: only then is a renewal judged. */
const JUDGED_AFTER_DAYS = 3
const RENEWALS_MOST = 400

export type Cohorts = ReturnType<typeof openCohorts>

type PayersQuestion = CohortQuestion & { grain: 'day' | 'week' | 'month' }

export function openCohorts(deps: Parameters<typeof openSpreads>[0] & { shares: Shares }) {
  const spreads = openSpreads(deps)
  const { cells } = spreads
  const { shares } = deps

  /** Shows what lay ahead until now, and counts what waits. To be called before anything is read. */
  async function settle(): Promise<void> {
    await deps.values.ripen()
    await spreads.work()
  }

  /** Makes customers and cohorts anew from what lineages add to the metrics; how many lineages there are. */
  async function rebuild(): Promise<number> {
    await spreads.clear()
    const lineages = await deps.values.rebuild()
    await settle()
    return lineages
  }

  /**
   * Of the subscriptions first paid for in each cohort, with one period: how many were paid for a day after their k-th
   * renewal was due. `due`: of how many that is known; `complete`: it is of all.
   */
  function retention(question: CohortQuestion, today: DayNumber) {
    const parts = cells.read({ ...question, kind: 'retention' }).filter(({ cohort }) => cohort <= today)
    const rows = Map.groupBy(parts, ({ period, cohort }) => `${period}\n${beginOf(question.grain, cohort)}`)
    return [...rows.values()]
      .map((own) => ({
        ...cohortPart(question.grain, own[0]?.cohort ?? 0),
        period: own[0]?.period ?? '',
        ...renewalsOf(own, today),
      }))
      .filter(({ size }) => size > 0)
      .sort((a, b) => (`${a.period}${a.cohort}` < `${b.period}${b.cohort}` ? -1 : 1))
  }

  /**
   * Of the customers who first paid in each cohort: what they paid, less what was given back, up to and with so many
   * days after the first payment, whose day is 0. `complete`: that many days are over for all of them. `net`: proceeds
   * instead of what was charged.
   */
  function ltv(
    question: CohortQuestion,
    days: readonly number[],
    today: DayNumber,
    net: readonly CohortSum[] | null = null,
  ) {
    return spansOf(question, today).flatMap(({ cohort, from, until }) => {
      const gross = cells.together({ ...question, kind: 'ltv', from, until })
      const customers = gross.reduce((sum, { position, count }) => sum + (position === 0 ? count : 0), 0)
      if (customers === 0) return []
      const own = net?.filter(({ cohort }) => cohort >= from && cohort <= until) ?? gross
      const values = days.map((day) => {
        const money = moneyOf(summed(own.filter(({ position }) => position <= day)))
        return {
          days: day,
          ...money,
          per_customer_milli: Math.round(money.net_milli / customers),
          complete: endOf(question.grain, from) + day < today,
        }
      })
      return [{ cohort, customers, values }]
    })
  }

  /** In each day, week or month: the revenue, and the customers who paid in it. `net` as for ltv. */
  function arppu(question: PayersQuestion, today: DayNumber, net: readonly CohortSum[] | null = null) {
    const { grain } = question
    const parts = cells.read(payersWanted(question, today))
    const left = net && Map.groupBy(net, ({ cohort }) => cohort)
    return [...Map.groupBy(parts, ({ cohort }) => cohort)]
      .map(([unit, own]) => {
        const payers = own.reduce((sum, { count }) => sum + count, 0)
        const money = moneyOf(summed(left ? (left.get(unit) ?? []) : own))
        const begin = BEGINS[grain](unit)
        return {
          cohort: dayText(begin),
          payers,
          ...money,
          per_payer_milli: payers === 0 ? null : Math.round(money.net_milli / payers),
          complete: endOf(grain, begin) < today,
        }
      })
      .sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
  }

  /**
   * Of the payments that failed in each cohort: how many Apple collected after all, and within how many days; how many it
   * did not, or gave up after 60 days. The rest is pending.
   */
  function recovery(question: CohortQuestion, today: DayNumber) {
    const parts = cells.read({ ...question, kind: 'recovery' }).filter(({ cohort }) => cohort <= today)
    return [...Map.groupBy(parts, ({ cohort }) => beginOf(question.grain, cohort))]
      .map(([begin, own]) => ({ cohort: dayText(begin), ...recoveredOf(own, today) }))
      .filter(({ failed }) => failed > 0)
      .sort((a, b) => (a.cohort < b.cohort ? -1 : 1))
  }

  /** What `ltv` is told in proceeds by: of everything, or of one product in one country. */
  function proceedsOfLtv(question: CohortQuestion) {
    const kind = question.product_id === ANY && question.storefront === ANY ? 'ltv.parts' : 'ltv'
    return proceedsOf(cells, shares, { ...question, kind }, ({ cohort, position }) => cohort + position)
  }

  /** What `arppu` is told in proceeds by: what is left at the end of each day, week or month, or today. */
  function proceedsOfPayers(question: PayersQuestion, today: DayNumber) {
    const { grain } = question
    const dayOf = ({ cohort }: CohortSum) => Math.min(today, endOf(grain, BEGINS[grain](cohort)))
    return proceedsOf(cells, shares, payersWanted(question, today), dayOf)
  }

  /** The first customer or sum that is kept as something else than the facts give, in words; null where there is none. */
  async function verify(): Promise<string | null> {
    await settle()
    return (await deps.values.firstDifference()) ?? compareCohorts(deps, spreads)
  }

  const asked = { retention, ltv, arppu, recovery, proceedsOfLtv, proceedsOfPayers }
  return { ...asked, settle, rebuild, verify, close: spreads.close }
}

function renewalsOf(parts: readonly Part[], today: DayNumber) {
  const days = [...Map.groupBy(parts, ({ cohort }) => cohort)].map(([day, own]) => {
    const changes = new Map<number, number>()
    for (const { position, count } of own) changes.set(position, (changes.get(position) ?? 0) + count)
    return { day, size: changes.get(0) ?? 0, changes, held: 0 }
  })
  const size = days.reduce((sum, one) => sum + one.size, 0)
  const period = parts[0]?.period ?? ''
  const renewals = []
  for (let k = 0; k < RENEWALS_MOST; k += 1) {
    for (const one of days) one.held += one.changes.get(k) ?? 0
    const known = days.filter(({ day }) => k === 0 || renewalDay(day, period, k) + JUDGED_AFTER_DAYS <= today)
    const due = known.reduce((sum, one) => sum + one.size, 0)
    if (due === 0) break
    const held = known.reduce((sum, one) => sum + one.held, 0)
    renewals.push({ k, due, held, share: ratioOf(held, due), complete: due === size })
  }
  return { size, renewals }
}

function recoveredOf(parts: readonly Part[], today: DayNumber) {
  const sum = (has: (part: Part) => boolean, of: (part: Part) => number = ({ count }) => count) =>
    parts.filter(has).reduce((total, part) => total + of(part), 0)
  const failed = sum(({ position }) => position === 0)
  const recovered = sum(({ position }) => position > 0)
  const isOver = ({ cohort }: Part): boolean => cohort + RETRIED_DAYS < today
  const ended = sum(({ position }) => position === -1)
  const settled = sum(
    (part) => isOver(part),
    ({ position, count }) => (position === 0 ? count : -count),
  )
  const days = sum(
    ({ position }) => position > 0,
    ({ position, count }) => position * count,
  )
  return {
    failed,
    recovered,
    lost: ended + settled,
    pending: failed - recovered - ended - settled,
    recovery_rate: ratioOf(recovered, failed),
    days_to_recover: ratioOf(days, recovered),
    complete: failed === recovered + ended + settled,
  }
}

const UNITS = { day: (day: DayNumber) => day, week: weekOf, month: monthOf }
const BEGINS = {
  day: (day: number): DayNumber => day,
  // Weeks begin on Mondays, and 1970 began on a Thursday.
  week: (week: number): DayNumber => week * 7 - 3,
  month: (month: number): DayNumber => Date.UTC(1970, month, 1) / 86_400_000,
}

/** The first day of the cohort that a day is in. */
function beginOf(grain: Grain, day: DayNumber): DayNumber {
  if (grain === 'day') return day
  if (grain === 'week') return BEGINS.week(weekOf(day))
  const month = monthOf(day)
  return BEGINS.month(grain === 'month' ? month : month - (month % 12))
}

/** The last day of the cohort that begins with a day. */
function endOf(grain: Grain, begin: DayNumber): DayNumber {
  if (grain === 'day') return begin
  if (grain === 'week') return begin + 6
  return BEGINS.month(monthOf(begin) + (grain === 'month' ? 1 : 12)) - 1
}

const cohortPart = (grain: Grain, day: DayNumber) => ({ cohort: dayText(beginOf(grain, day)) })

function payersWanted({ grain, from, until, ...question }: PayersQuestion, today: DayNumber) {
  const unitOf = UNITS[grain]
  const kind = `payers.${grain}` as const
  return { ...question, kind, from: unitOf(from), until: unitOf(Math.min(until, today)) }
}

/** The cohorts of a question that have begun, each whole. */
function spansOf({ grain, from, until }: CohortQuestion, today: DayNumber) {
  const spans: { cohort: string; from: DayNumber; until: DayNumber }[] = []
  const last = Math.min(until, today)
  for (let begin = beginOf(grain, from); begin <= last; begin = endOf(grain, begin) + 1) {
    spans.push({ cohort: dayText(begin), from: begin, until: endOf(grain, begin) })
  }
  return spans
}

type Given = Omit<Money, 'net_milli'>

const moneyOf = ({ charged_milli, refunded_milli, prorated_milli }: Given): Money => ({
  ...{ charged_milli, refunded_milli, prorated_milli },
  net_milli: charged_milli - refunded_milli - prorated_milli,
})

const summed = (parts: readonly Given[]): Given =>
  parts.reduce(
    (sum, one) => ({
      charged_milli: sum.charged_milli + one.charged_milli,
      refunded_milli: sum.refunded_milli + one.refunded_milli,
      prorated_milli: sum.prorated_milli + one.prorated_milli,
    }),
    { charged_milli: 0, refunded_milli: 0, prorated_milli: 0 },
  )
