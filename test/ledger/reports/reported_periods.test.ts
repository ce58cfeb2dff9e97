import { expect, test } from 'vitest'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import { openYear } from './year.ts'

test('reads periods from reports once a day if the key may not list subscriptions', async () => {
  const year = await openYear({ subscribers: 120, years: 1 })
  year.appStore.faults.forbidden = ['/v1/apps/', '/v1/subscriptionGroups']
  const { windfall, organization, imports } = await year.openWindfall()
  const { apps, products, reportedPeriods } = windfall
  await windfall.catalogue.refreshAll()
  await imports.run({ days: 40 })
  expect(await reportedPeriods.learn(organization.id)).toBeGreaterThan(5)
  for (const app of apps.list()) {
    const plans = APPS.find(({ bundle_id }) => bundle_id === app.bundle_id)?.plans ?? []
    for (const { product_id, apple_id, period, period_source } of products.list(app.id)) {
      // Under a commitment that is billed monthly, reports have a month.
      const plan = plans.find((one) => one.product_id === product_id)
      expect([product_id, apple_id, period, period_source]).toEqual([
        plan?.product_id,
        plan?.apple_id,
        plan?.billed,
        'report',
      ])
    }
  }
  expect(await reportedPeriods.learn(organization.id)).toBe(0)

  year.appStore.faults.forbidden = []
  await windfall.catalogue.refreshAll()
  const sources = apps.list().flatMap(({ id }) => products.list(id).map(({ period_source }) => period_source))
  expect(new Set(sources)).toEqual(new Set(['connect']))
})
