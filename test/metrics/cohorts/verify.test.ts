import { expect, test } from 'vitest'
import { openLedger } from '../told_ledger.ts'

async function openSome() {
  const { app, tell } = await openLedger()
  await tell('1', 0, '2026-03-10', '2026-04-10')
  await tell('1', 1, '2026-04-10', '2026-05-10', {}, { autoRenewStatus: 0, expirationIntent: 1 })
  await tell('2', 0, '2026-05-20', '2026-06-20', { storefront: 'DEU' })
  return app.windfall
}

test('customers and cohorts are what the facts give, also after all was made anew', async () => {
  const { cohorts } = await openSome()
  expect(await cohorts.verify()).toBeNull()
  await cohorts.rebuild()
  expect(await cohorts.verify()).toBeNull()
})

test.each([
  [
    'update customer_values set ltv_milli = ltv_milli + 1',
    /^the customer .*: ltv_milli \d+ is kept, the facts give/,
  ],
  ['delete from customer_values', /^the customer /],
  ["update cohort_customers set spread = '{}'", /adds to cohorts$/],
  [
    'update cohort_cells set charged_milli = charged_milli + 1',
    /^the cohort sum .* is kept, the customers give/,
  ],
  ['delete from cohort_cells', /^the cohort sum .* is not kept$/],
])('%s is told', async (damage, words) => {
  const { cohorts, store } = await openSome()
  await cohorts.settle()
  await store.commit(() => store.prepare(damage).run())
  expect(await cohorts.verify()).toMatch(words)
})
