/** Payments that failed at first and were collected later, with the dates that Apple may give the renewal. */
import { expect, test } from 'vitest'
import { type RenewalFact, type TransactionFact, timelineOf } from '../../../src/metrics/lineage/timeline.ts'
import { bought, periodOf, renewalInfo } from '../facts.ts'
import { levelsOn, movementsIn } from '../metric_lines.ts'
import { at, openTestLedger } from '../test_ledger.ts'

const GRACE = { isInBillingRetryPeriod: true, gracePeriodExpiresDate: at('2026-03-17') }
const OFF = { autoRenewStatus: 0, isInBillingRetryPeriod: false }

/** A month until 1 March, whose renewal fails half a minute later. */
async function openFailing() {
  const ledger = await openTestLedger()
  const { notifyTransaction } = ledger
  const month = ['2026-02-01', '2026-03-01'] as const
  await notifyTransaction('1', 0, ...month)
  await notifyTransaction('1', 0, ...month, {}, { ...GRACE, signedDate: at('2026-03-01T12:00:30Z') })
  return ledger
}

const recoveries = async ({ get }: Awaited<ReturnType<typeof openTestLedger>>) =>
  ((await (await get('cohorts?metric=recovery&from=2026-02-01')).json()) as { cohorts: object[] }).cohorts

test('a renewal collected in a grace period and dated at the old expiry is recovered, and ends as the customer ends it', async () => {
  const ledger = await openFailing()
  const { notifyTransaction, getMetric } = ledger
  const renewed = ['1', 1, '2026-03-01', '2026-04-01', {}] as const
  // Collected on the 5th at 18:00, 4.25 days after it was due; renewal is turned off on the 20th.
  await notifyTransaction(...renewed, { signedDate: at('2026-03-05T18:00:00Z') })
  await notifyTransaction(...renewed, { ...OFF, signedDate: at('2026-03-20') })
  await notifyTransaction(...renewed, { ...OFF, expirationIntent: 1, signedDate: at('2026-04-01T12:00:30Z') })
  expect(await movementsIn(getMetric)).toEqual(['2026-02-01 new 9990', '2026-04-01 churn_voluntary -9990'])
  expect(await recoveries(ledger)).toMatchObject([
    { cohort: '2026-03-01', failed: 1, recovered: 1, lost: 0, pending: 0, days_to_recover: 5 },
  ])
})

test('a renewal dated at the old expiry that fails again at its own end is lost to billing', async () => {
  const ledger = await openFailing()
  const { notifyTransaction, getMetric } = ledger
  const renewed = ['1', 1, '2026-03-01', '2026-04-01', {}] as const
  await notifyTransaction(...renewed, { signedDate: at('2026-03-05T18:00:00Z') })
  await notifyTransaction(...renewed, {
    isInBillingRetryPeriod: true,
    signedDate: at('2026-04-01T12:00:30Z'),
  })
  await notifyTransaction(...renewed, { ...OFF, expirationIntent: 1, signedDate: at('2026-05-31') })
  expect(await movementsIn(getMetric)).toEqual(['2026-02-01 new 9990', '2026-04-01 churn_billing -9990'])
  expect(await recoveries(ledger)).toMatchObject([
    { cohort: '2026-03-01', failed: 1, recovered: 1, days_to_recover: 5 },
    { cohort: '2026-04-01', failed: 1, recovered: 0, lost: 1 },
  ])
})

test('the grace period of a collected payment does not extend the shorter period that it paid for', async () => {
  const ledger = await openFailing()
  const { notifyTransaction, getMetric } = ledger
  // The renewal changes to a week, which ends before the grace period would have.
  const week = ['1', 1, '2026-03-01', '2026-03-08', { productId: 'weekly' }] as const
  await notifyTransaction(...week, { signedDate: at('2026-03-02') })
  await notifyTransaction(...week, { ...OFF, expirationIntent: 1, signedDate: at('2026-03-08') })
  const levels = await levelsOn(getMetric, ['2026-03-07', '2026-03-08'])
  expect(Object.values(levels).map(([, count]) => count)).toEqual([1, 0])
})

test('a payment whose retries began before the first known period counts as one failure', async () => {
  const ledger = await openTestLedger()
  const { notifyTransaction } = ledger
  const renewed = ['1', 4, '2026-03-01', '2026-04-01', {}] as const
  await notifyTransaction(...renewed, { ...GRACE, signedDate: at('2026-03-01T12:00:30Z') })
  await notifyTransaction(...renewed, { signedDate: at('2026-03-02T18:00:00Z') })
  expect(await recoveries(ledger)).toMatchObject([
    { cohort: '2026-03-01', failed: 1, recovered: 1, days_to_recover: 2 },
  ])
})

test('a retry ends with the first newer info without one, and not with the info in which Apple gives up', () => {
  const month: TransactionFact[] = [bought('1', '2026-03-01', '2026-04-01')]
  const endingOf = (...infos: RenewalFact[]) => timelineOf(month, infos, periodOf)[0]?.ending
  const retry = (on: string) => renewalInfo(on, { in_billing_retry: 1 })
  const off = renewalInfo('2026-03-20', { auto_renew_status: 0 })
  const gaveUp = renewalInfo('2026-04-20', { expiration_intent: 1, auto_renew_status: 0 })
  expect(endingOf(retry('2026-03-01'), off)).toBe('voluntary')
  expect(endingOf(retry('2026-03-01'), off, gaveUp)).toBe('voluntary')
  expect(endingOf(retry('2026-04-01'), gaveUp)).toBe('billing')
  expect(endingOf(retry('2026-03-01'), off, retry('2026-04-01'), gaveUp)).toBe('billing')
})
