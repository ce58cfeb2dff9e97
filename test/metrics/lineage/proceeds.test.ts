/** The proceeds of random charges are one number, in whichever way they are added up. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contributionOf } from '../../../src/metrics/cohorts/contribution.ts'
import { lineageProceeds, netProceeds } from '../../../src/metrics/customers/charges.ts'
import { openCalendar } from '../../../src/metrics/lineage/calendar.ts'
import { type Flow, flowsOf, isRefundFlow } from '../../../src/metrics/lineage/flows.ts'
import type { ToBase } from '../../../src/metrics/lineage/movements.ts'
import {
  PROCEEDS_PARTS,
  type PricedCharge,
  type Proceeds,
  proceedsOfFlow,
  returnedPart,
} from '../../../src/metrics/lineage/proceeds.ts'
import { metricRowsOf } from '../../../src/metrics/lineage/rows.ts'
import { refundRowsOf } from '../../../src/metrics/refunds/refund_rows.ts'
import { runs } from '../../random.ts'
import { bought, day, periodOf } from '../facts.ts'
import { histories } from '../histories.ts'

const calendar = openCalendar('Asia/Kolkata')
const pacific = openCalendar('America/Los_Angeles')

/** A euro has another value on each day. Nothing but dollars and euros has a rate. */
const toBase: ToBase = (milli, currency, at) => {
  if (currency === 'USD') return milli
  return currency === 'EUR' ? Math.round((milli * (900 + (calendar.dayOf(at) % 300))) / 1_000) : null
}

/** A share of each price that depends on everything; Apple pays for some euros in dollars. */
function proceedsOf({ product_id, storefront, price_milli, currency, at }: PricedCharge): Proceeds {
  const share = (product_id.length * 7 + (storefront?.length ?? 0) + pacific.dayOf(at)) % 40
  const basis = (['exact', 'ratio', 'estimated'] as const)[pacific.dayOf(at) % 3] ?? 'exact'
  const milli = Math.round((price_milli * (48 + share)) / 100)
  return { milli, currency: share % 5 === 0 ? 'USD' : currency, basis }
}

const settings = { factors: 'calendar', toBase, proceedsOf, periodOf, calendar, pacific } as const
const sumOf = <One>(all: readonly One[], of: (one: One) => number | null): number =>
  all.reduce((sum, one) => sum + (of(one) ?? 0), 0)

test('rows, lineages, charges, cohorts and refunds of any history add up to the same proceeds', () => {
  const property = fc.property(histories, ({ transactions, renewals }) => {
    const hasFirstTransaction = transactions.some(({ transaction_id }) => transaction_id === '1')
    const signed = renewals.toSorted((a, b) => a.signed_at - b.signed_at)
    const rows = metricRowsOf({ transactions, renewals: signed, hasFirstTransaction }, settings)
    const sumOfParts = (parts: readonly string[]) =>
      sumOf(rows, ({ measure, base_milli }) =>
        parts.includes(PROCEEDS_PARTS.get(measure)?.part ?? '') ? base_milli : 0,
      )
    const total = sumOfParts(['charged']) - sumOfParts(['refunded', 'prorated'])

    expect(lineageProceeds(rows, Infinity).proceeds_milli ?? 0).toBe(total)

    const flows = flowsOf(transactions, hasFirstTransaction)
    const charges = flows.filter((flow) => !isRefundFlow(flow))
    const back = (charge: Flow) =>
      flows.filter(({ transaction_id }) => transaction_id === charge.transaction_id)
    expect(sumOf(charges, (charge) => netProceeds(charge, back(charge), settings)?.base_milli ?? 0)).toBe(
      total,
    )

    const { proceeds } = contributionOf(rows, calendar, Infinity)
    expect(sumOf(proceeds, ([, , , charged, refunded, prorated]) => charged - refunded - prorated)).toBe(
      total,
    )

    const context = { app_id: 'app', original_transaction_id: '1', requestReasons: new Map() }
    const app = { ...settings, calendars: [calendar, pacific], currency: 'USD', wasProvisional: () => false }
    const refunds = refundRowsOf(
      { transactions: [...transactions].map(withReason), renewals: signed },
      { ...context, settings: app },
    )
    expect(sumOf(refunds, ({ proceeds_milli }) => proceeds_milli)).toBe(sumOfParts(['refunded']))
  })
  fc.assert(property, runs(500, 20_000))
})

const withReason = <Fact>(fact: Fact) => ({ ...fact, revocation_reason: null })

test('parts of a charge that sum to all of it take back exactly its proceeds', () => {
  const parts = fc.array(fc.integer({ min: 1, max: 2_000_000 }), { minLength: 1, maxLength: 6 })
  const property = fc.property(parts, fc.integer({ min: 0, max: 20_000_000 }), (all, whole) => {
    const price_milli = all.reduce((sum, one) => sum + one, 0)
    let refunded_before_milli = 0
    const returned = all.map((milli) => {
      const part = returnedPart(whole, { milli, price_milli, refunded_before_milli })
      refunded_before_milli += milli
      return part
    })
    expect(returned.reduce((sum, one) => sum + one, 0)).toBe(whole)
    // Taken back once more, as when Apple reverses a refund.
    expect(returnedPart(whole, { milli: -price_milli, price_milli, refunded_before_milli })).toBe(0 - whole)
  })
  fc.assert(property, runs(500, 20_000))
})

test('proceeds in another currency than the price have the rate of the charge, and no amount in its currency', () => {
  const [flow] = flowsOf(
    [bought('1', '2026-01-01', '2026-02-01', { currency: 'EUR', price_milli: 9_990 })],
    true,
  )
  if (!flow) throw new Error('there is no charge')
  const inDollars = () => ({ milli: 7_000, currency: 'USD', basis: 'exact' }) as const
  expect(proceedsOfFlow(flow, { toBase, proceedsOf: inDollars })).toEqual({
    milli: 0,
    currency: 'EUR',
    base_milli: 7_000,
    basis: 'exact',
  })
  const inYen = () => ({ milli: 7_000, currency: 'JPY', basis: 'exact' }) as const
  // Without a rate, they are named in the currency in which Apple pays.
  expect(proceedsOfFlow(flow, { toBase, proceedsOf: inYen })).toEqual({
    milli: 7_000,
    currency: 'JPY',
    base_milli: null,
    basis: 'exact',
  })
  expect(flow.charged_at).toBe(day('2026-01-01'))
})
