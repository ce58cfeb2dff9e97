import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flowsOf } from '../../../src/metrics/lineage/flows.ts'
import { monthlyMilli } from '../../../src/metrics/lineage/months.ts'
import { movementsOf as moved, withLevels } from '../../../src/metrics/lineage/movements.ts'
import { risksOf } from '../../../src/metrics/lineage/risks.ts'
import { type RenewalFact, type TransactionFact, timelineOf } from '../../../src/metrics/lineage/timeline.ts'
import { runs } from '../../random.ts'
import { DAY, day, periodOf } from '../facts.ts'
import { histories } from '../histories.ts'
import { aMonth, type Factors } from './arithmetic.ts'
import { lineageOf } from './facts.ts'
import { moneyOf } from './money.ts'
import { movementsOf, type Terms, worthsOf } from './mrr_values.ts'
import { riskAt } from './risks.ts'

/** A euro is worth 1.10 dollars, from March 2026 on 1.20. */
const toBase = (milli: number, currency: string, at: number): number | null => {
  if (currency !== 'EUR') return currency === 'USD' ? milli : null
  return Math.round((milli * (at < day('2026-03-01') ? 110 : 120)) / 100)
}
const TERMS: Terms = {
  environment: 'production',
  factors: 'calendar',
  toBase,
  declaredPeriodOf: (_app_id, product_id) => periodOf(product_id) ?? undefined,
}

const factors = fc.constantFrom<Factors>('calendar', 'revenuecat')

type History = { transactions: TransactionFact[]; renewals: RenewalFact[] }

/** The same facts for the oracle, in order of purchase and of signing. */
function lineage({ transactions, renewals }: History) {
  const place = { app_id: 'app', original_transaction_id: '1' }
  const bought = transactions
    .map((fact) => ({ ...fact, ...place }))
    .sort((a, b) => a.purchased_at - b.purchased_at || Number(a.transaction_id) - Number(b.transaction_id))
  const infos = renewals.map((info) => ({ ...info, ...place })).sort((a, b) => a.signed_at - b.signed_at)
  return lineageOf('app 1', bought, infos)
}

const isWhole = ({ transactions }: History): boolean =>
  transactions.some(({ transaction_id }) => transaction_id === '1')

test('segments and their endings, in any history', () => {
  const property = fc.property(histories, (history) => {
    const ours = timelineOf(history.transactions, history.renewals, periodOf)
    const theirs = worthsOf(lineage(history), TERMS)
    expect(
      ours.map(({ transaction_id, from, to, kind, ending, period }) =>
        [transaction_id, from, to, kind, ending, period].join(' '),
      ),
    ).toEqual(
      theirs.map(({ by, from, to, kind, ending, period }) =>
        [by.transaction_id, from, to, kind, ending, period].join(' '),
      ),
    )
  })
  fc.assert(property, runs(500, 20_000))
})

test('movements, in any history and with either month length', () => {
  const property = fc.property(histories, factors, (history, factors) => {
    const segments = withLevels(timelineOf(history.transactions, history.renewals, periodOf), factors, toBase)
    const theirs = lineage(history)
    expect(
      moved(segments, isWhole(history), toBase).map(
        ({ at, kind, transaction_id, currency, milli, base_milli, count }) =>
          [at, kind, transaction_id, currency ?? '', milli, base_milli, count].join(' '),
      ),
    ).toEqual(
      movementsOf(worthsOf(theirs, { ...TERMS, factors }), theirs.is_whole, toBase).map(
        ({ at, kind, by, currency, milli, base_milli, count }) =>
          [at, kind, by.transaction_id, currency, milli, base_milli, count].join(' '),
      ),
    )
  })
  fc.assert(property, runs(500, 20_000))
})

test('risks, on any day of any history', () => {
  const property = fc.property(histories, (history) => {
    const renewals = history.renewals.toSorted((a, b) => a.signed_at - b.signed_at)
    const segments = withLevels(timelineOf(history.transactions, renewals, periodOf), 'calendar', toBase)
    const spans = risksOf(segments, { ...history, renewals })
    const theirs = lineage(history)
    const concluded = { lineage: theirs, worths: worthsOf(theirs, TERMS), movements: [], money: [] }
    for (let at = day('2025-12-30'); at < day('2028-06-01'); at += 3 * DAY) {
      const ours = spans.filter(({ from, to }) => from <= at && at < to)
      const found = riskAt(concluded, at)
      expect(ours.map(({ risk, segment }) => `${risk} ${segment.transaction_id}`)).toEqual(
        found === null ? [] : [`${found.risk} ${found.worth.by.transaction_id}`],
      )
    }
  })
  fc.assert(property, runs(200, 5_000))
})

test('charges and refunds, in any history', () => {
  const property = fc.property(histories, (history) => {
    const ours = flowsOf(history.transactions, isWhole(history)).map(
      ({ at, charged_at, kind, transaction_id, currency, milli }) =>
        [at, charged_at, kind, transaction_id, currency ?? '', milli].join(' '),
    )
    const theirs = moneyOf(lineage(history)).map(({ at, charged_at, kind, by, currency, milli }) =>
      [at, charged_at, kind, by.transaction_id, currency, milli].join(' '),
    )
    expect(ours.sort()).toEqual(theirs.sort())
  })
  fc.assert(property, runs(500, 20_000))
})

test('the monthly value of any price for any period', () => {
  const period = fc.tuple(fc.integer({ min: 1, max: 99 }), fc.constantFrom('D', 'W', 'M', 'Y'))
  const price = fc.oneof(fc.nat(20_000_000), fc.nat(500))
  const property = fc.property(price, period, factors, (milli, [count, unit], how) => {
    expect(monthlyMilli(milli, `P${count}${unit}`, how)).toBe(aMonth(milli, `P${count}${unit}`, how))
  })
  fc.assert(property, runs(1_000, 20_000))
})
