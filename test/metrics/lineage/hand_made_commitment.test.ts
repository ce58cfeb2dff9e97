/** A 12-month commitment billed monthly whose renewal is turned off early, calculated by hand. */
import { expect, test } from 'vitest'
import { at, figuresIn, openTestLedger } from '../test_ledger.ts'

const MONTHS = ['2026-03-15', '2026-04-15', '2026-05-15', '2026-06-15'] as const

/** A month of a commitment from 15 March 2026 to 15 March 2027, by its number. */
const instalment = (number: number) => ({
  productId: 'yearly',
  price: 5_990,
  billingPlanType: 'MONTHLY',
  commitmentInfo: {
    billingPeriodNumber: number,
    totalBillingPeriods: 12,
    commitmentExpiresDate: at('2027-03-15'),
    commitmentPrice: 71_880,
  },
})
const OFF = { autoRenewStatus: 0 }

test('a commitment with renewal turned off is committed and not at risk until its last month', async () => {
  const { app, notifyTransaction, getMetric, get } = await openTestLedger()
  const [first, second, third, fourth] = MONTHS
  await notifyTransaction('1', 0, first, second, instalment(1))
  // Turned off in the second month.
  await notifyTransaction('1', 1, second, third, instalment(2))
  await notifyTransaction('1', 1, second, third, { ...instalment(2), signedDate: at('2026-04-20') }, OFF)
  await notifyTransaction('1', 2, third, fourth, instalment(3), OFF)
  // Another one of 9.990 a month without a commitment, turned off too.
  await notifyTransaction('2', 0, '2026-05-10', '2026-06-10', {}, OFF)
  async function on(day: string) {
    const [status, risk] = [
      await getMetric(`status?from=${day}&to=${day}`),
      await getMetric(`mrr_at_risk?from=${day}&to=${day}`),
    ]
    const count = (part: string | null) => figuresIn(status.series, 'count', { part })[day] ?? 0
    return {
      counts: [count(null), count('renewing'), count('committed'), count('will_cancel')],
      risk_milli: figuresIn(risk.series, 'milli')[day] ?? 0,
    }
  }
  expect(await on('2026-04-19')).toEqual({ counts: [1, 1, 0, 0], risk_milli: 0 })
  expect(await on('2026-04-20')).toEqual({ counts: [1, 0, 1, 0], risk_milli: 0 })
  // Of 5.990 + 9.990 the latter is at risk.
  expect(await on('2026-06-01')).toEqual({ counts: [2, 0, 1, 1], risk_milli: 9_990 })
  const list = async (query: string) => {
    const { customers } = (await (await get(`customers?${query}`)).json()) as { customers: object[] }
    return customers
  }
  const committed = {
    status: 'committed',
    mrr_milli: 5_990,
    risk_milli: 0,
    // Charged again in June; the commitment then ends.
    next_renewal_at: at(fourth),
    ends_at: at('2027-03-15'),
  }
  const leaving = {
    status: 'will_cancel',
    risk_milli: 9_990,
    next_renewal_at: null,
    ends_at: at('2026-06-10'),
  }
  expect(await list('sort=ends')).toMatchObject([leaving, committed])
  expect(await list('sort=ends&within_days=60')).toMatchObject([leaving])
  expect(await list('status=committed')).toMatchObject([committed])
  expect(await list('status=will_cancel&sort=mrr')).toMatchObject([leaving])
  // The last month: from 15 February 2027 nothing more is due.
  app.clock.set(at('2027-02-20'))
  await notifyTransaction('1', 9, '2027-02-15', '2027-03-15', instalment(12), OFF)
  expect(await on('2027-02-20')).toEqual({ counts: [1, 0, 0, 1], risk_milli: 5_990 })
  expect(await list('sort=ends')).toMatchObject([{ status: 'will_cancel', ends_at: at('2027-03-15') }])
  expect((await app.windfall.metrics.verify()).difference).toBeNull()
})
