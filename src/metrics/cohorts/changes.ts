/** Computes the changes of cohort sums when the contribution of a customer’s lineages changes. */
import { type DayNumber, monthOf, weekOf } from '../lineage/calendar.ts'
import type { ProceedsCertainty } from '../lineage/proceeds.ts'
import type { DayMoney, DayProceeds, RetentionFact } from './contribution.ts'
import type { Failure } from './failures.ts'

/**
 * What the cells of a series contain, by cohort and position.
 * ltv: money, by the day of a customer’s first payment and the days since; `count` at 0 is the number of customers.
 * ltv.exact, ltv.ratio, ltv.estimated: the proceeds of the same money, by certainty, without customers. payers.*: the
 * number of customers who paid in a day, week or month, and their money. retention: by the day of the first payment;
 * `count` at 0 is the number of subscriptions, at k the change in how many are paid after the k-th renewal. recovery: by
 * the day on which a payment failed; `count` at 0 is the number of failures, at -1 of lost payments, at d of payments
 * made on the d-th day.
 */
export type CohortKind =
  | 'ltv'
  | `ltv.${ProceedsCertainty}`
  | 'payers.day'
  | 'payers.week'
  | 'payers.month'
  | 'retention'
  | 'recovery'

/** `*` stands for any value. `period`: for retention the period of the first payment, otherwise `*`. */
export type CohortSeries = { kind: CohortKind; product_id: string; storefront: string; period: string }
export type CohortCell = CohortSeries & {
  cohort: number
  position: number
  count: number
  charged_milli: number
  refunded_milli: number
  prorated_milli: number
}

export const ANY = '*'
const PAYER_UNITS = [
  ['payers.day', (day: DayNumber) => day],
  ['payers.week', weekOf],
  ['payers.month', monthOf],
] as const

export type CellChanges = ReturnType<typeof collectCellChanges>

/** Collects the changes of cells that `isWanted` selects. Drops changes that cancel out. */
export function collectCellChanges(isWanted: (kind: CohortKind, cohort: number) => boolean = () => true) {
  const cells = new Map<string, CohortCell>()

  function add(
    series: CohortSeries,
    cohort: number,
    position: number,
    count: number,
    money?: MoneySums,
  ): void {
    const { kind, product_id, storefront, period } = series
    if (!isWanted(kind, cohort)) return
    const key = [kind, product_id, storefront, period, cohort, position].join('\n')
    const cell = cells.get(key) ?? { ...series, cohort, position, ...ZERO_SUMS }
    cell.count += count
    cell.charged_milli += money?.charged_milli ?? 0
    cell.refunded_milli += money?.refunded_milli ?? 0
    cell.prorated_milli += money?.prorated_milli ?? 0
    cells.set(key, cell)
  }

  const list = (): CohortCell[] =>
    [...cells.values()].filter(
      ({ count, charged_milli, refunded_milli, prorated_milli }) =>
        count !== 0 || charged_milli !== 0 || refunded_milli !== 0 || prorated_milli !== 0,
    )

  return { add, list }
}

/** Amounts in thousandths; refunds and prorations are positive. */
export type MoneySums = { charged_milli: number; refunded_milli: number; prorated_milli: number }
const ZERO_SUMS = { count: 0, charged_milli: 0, refunded_milli: 0, prorated_milli: 0 }

/** The groups that contain a product and country: both, the product, the country, and all. */
const groupsOf = (product_id: string, storefront: string): readonly CohortGroup[] => [
  [ANY, ANY],
  [product_id, ANY],
  [ANY, storefront],
  [product_id, storefront],
]
type CohortGroup = readonly [product_id: string, storefront: string]

/** Adds (1) or removes (-1) the retention of a lineage. */
export function addRetention({ add }: CellChanges, retained: RetentionFact | null, sign: 1 | -1): void {
  if (retained === null) return
  const { day, period, turns } = retained
  for (const [product_id, storefront] of groupsOf(retained.product_id, retained.storefront)) {
    const series = { kind: 'retention', product_id, storefront, period } as const
    add(series, day, 0, sign)
    for (const [k, change] of turns) add(series, day, k, sign * change)
  }
}

/** Adds (1) or removes (-1) a lineage’s failed payments. */
export function addRecoveries({ add }: CellChanges, failures: readonly Failure[], sign: 1 | -1): void {
  for (const [day, product_id, storefront, outcome] of failures) {
    for (const group of groupsOf(product_id, storefront)) {
      add(seriesAt('recovery', group), day, 0, sign)
      if (outcome !== null) add(seriesAt('recovery', group), day, outcome, sign)
    }
  }
}

/** The money of all lineages of one customer, in any order. */
type CustomerMoney = { money: readonly DayMoney[]; proceeds: readonly DayProceeds[] }

/** Changes the money of one customer from `before` to `after`. */
export function addMoney(cells: CellChanges, before: CustomerMoney, after: CustomerMoney): void {
  const money = changesOf(before.money, after.money)
  const proceeds = changesOf(before.proceeds, after.proceeds)
  const groups = new Map<string, CohortGroup>()
  for (const [[, product_id, storefront]] of [...money.changed, ...proceeds.changed]) {
    for (const group of groupsOf(product_id, storefront)) groups.set(group.join('\n'), group)
  }
  for (const group of groups.values()) {
    const ownMoney = changesIn(group, money)
    addLtv(cells, group, ownMoney, changesIn(group, proceeds))
    for (const [kind, unitOf] of PAYER_UNITS) addPayers(cells, { kind, group, unitOf }, ownMoney)
  }
}

/** `changed`: the rows that only `before` (-1) or only `after` (1) contains. */
type Changes<Row> = {
  before: readonly Row[]
  after: readonly Row[]
  changed: readonly (readonly [Row, sign: 1 | -1])[]
}
type GroupRow = DayMoney | DayProceeds

function changesIn<Row extends GroupRow>(
  group: CohortGroup,
  { before, after, changed }: Changes<Row>,
): Changes<Row> {
  const isInThisGroup = isInGroup(group)
  return {
    before: before.filter(isInThisGroup),
    after: after.filter(isInThisGroup),
    changed: changed.filter(([row]) => isInThisGroup(row)),
  }
}

const isInGroup =
  ([groupProduct, groupCountry]: CohortGroup) =>
  ([, product_id, storefront]: GroupRow): boolean =>
    (groupProduct === ANY || groupProduct === product_id) &&
    (groupCountry === ANY || groupCountry === storefront)

function changesOf<Row extends GroupRow>(before: readonly Row[], after: readonly Row[]): Changes<Row> {
  const remaining = new Map<string, Row[]>()
  for (const row of before) remaining.set(row.join('\n'), [...(remaining.get(row.join('\n')) ?? []), row])
  const added: (readonly [Row, 1])[] = []
  for (const row of after) if (remaining.get(row.join('\n'))?.pop() === undefined) added.push([row, 1])
  const removed = [...remaining.values()].flat().map((row) => [row, -1] as const)
  return { before, after, changed: [...removed, ...added] }
}

const moneyOf = (
  [, , , charged_milli, refunded_milli, prorated_milli]: GroupRow,
  sign: 1 | -1,
): MoneySums => ({
  charged_milli: sign * charged_milli,
  refunded_milli: sign * refunded_milli,
  prorated_milli: sign * prorated_milli,
})

const seriesAt = (kind: CohortKind, [product_id, storefront]: CohortGroup): CohortSeries => ({
  kind,
  product_id,
  storefront,
  period: ANY,
})

/** Adds money by days since the first payment. If that first day changed, all cells of the customer move. */
function addLtv(
  { add }: CellChanges,
  group: CohortGroup,
  money: Changes<DayMoney>,
  proceeds: Changes<DayProceeds>,
): void {
  const [from, to] = [firstDay(money.before), firstDay(money.after)]
  const addAt = (first: DayNumber | null, row: GroupRow, sign: 1 | -1): void => {
    if (first === null) return
    const kind = typeof row[6] === 'number' ? 'ltv' : (`ltv.${row[6]}` as const)
    add(seriesAt(kind, group), first, Math.max(0, row[0] - first), 0, moneyOf(row, sign))
  }
  if (from === to) {
    for (const [row, sign] of [...money.changed, ...proceeds.changed]) addAt(to, row, sign)
    return
  }
  for (const row of [...money.before, ...proceeds.before]) addAt(from, row, -1)
  for (const row of [...money.after, ...proceeds.after]) addAt(to, row, 1)
  if (from !== null) add(seriesAt('ltv', group), from, 0, -1)
  if (to !== null) add(seriesAt('ltv', group), to, 0, 1)
}

/** The first day with a charge; null if there is none. */
export const firstDay = (rows: readonly DayMoney[]): DayNumber | null =>
  rows.reduce<number | null>(
    (least, [day, , , , , , charges]) => (charges > 0 ? Math.min(least ?? day, day) : least),
    null,
  )

type PayerUnit = { kind: CohortKind; group: CohortGroup; unitOf: (day: DayNumber) => number }

function addPayers(
  { add }: CellChanges,
  { kind, group, unitOf }: PayerUnit,
  { before, after, changed }: Changes<DayMoney>,
): void {
  const series = seriesAt(kind, group)
  for (const [row, sign] of changed) add(series, unitOf(row[0]), 0, 0, moneyOf(row, sign))
  for (const unit of new Set(changed.map(([[day]]) => unitOf(day)))) {
    const paidCount = (rows: readonly DayMoney[]): number =>
      Number(rows.some(([day, , , , , , charges]) => charges > 0 && unitOf(day) === unit))
    add(series, unit, 0, paidCount(after) - paidCount(before))
  }
}
