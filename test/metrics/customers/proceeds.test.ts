/** Compares stored proceeds of customers with those that profiles compute from each charge. */
import { beforeAll, expect, test } from 'vitest'
import { DAY, type Late, NOW, openLate } from '../reports/late_connection.ts'

let late: Late
beforeAll(async () => {
  late = await openLate({ subscribers: 60, from: NOW - 200 * DAY })
  await late.live(NOW - 5 * DAY)
})

/** Every customer in a list, next to the sums of its profile. */
async function openCompared() {
  const { customers, apps } = late.windfall
  const scopes = apps.list().map(({ id }) => ({ app_id: id, environment: 'production' as const }))
  const page = await customers.list({
    scopes,
    sort: 'ltv',
    status: null,
    within_days: null,
    limit: 200,
    cursor: null,
  })
  expect(page.customers.length).toBeGreaterThan(20)
  return page.customers.map((value) => {
    const { id, proceeds_milli, proceeds_estimated } = customers.summaryOf(value)
    const proceeds = customers.profile(id)?.proceeds ?? null
    return {
      listed: { id, proceeds_milli, proceeds_estimated },
      counted: {
        id,
        proceeds_milli: proceeds?.base_milli ?? null,
        proceeds_estimated: proceeds?.estimated ?? 0,
      },
    }
  })
}

async function expectAlike(): Promise<void> {
  for (const { listed, counted } of await openCompared()) expect(listed).toEqual(counted)
}

async function expectRight(): Promise<void> {
  await late.windfall.metrics.whenCurrent()
  await expectAlike()
  expect((await late.windfall.metrics.verify()).difference).toBeNull()
}

const sumOf = async (name: 'proceeds_milli' | 'proceeds_estimated') =>
  (await openCompared()).reduce((sum, { listed }) => sum + (listed[name] ?? 0), 0)

test('facts, reports, rates and the commission update stored proceeds, immediately and by the worker', async () => {
  const { windfall } = late
  await expectRight()
  const estimated = await sumOf('proceeds_estimated')
  const sum = await sumOf('proceeds_milli')
  const { rates } = windfall
  const csv = 'date,currency,rate\n2026-01-20,EUR,0.9'
  await windfall.store.commit(() => rates.importRates(rates.readCsv(csv, 'USD')))
  await expectRight()
  expect(await sumOf('proceeds_milli')).toBeGreaterThan(sum)
  await rates.refresh(new AbortController().signal)
  await windfall.metrics.whenCurrent()
  await expectRight()
  await late.importAll(90)
  await expectRight()
  expect(await sumOf('proceeds_estimated')).toBeLessThan(estimated)
  await late.live(NOW)
  await expectRight()
  const before = await sumOf('proceeds_milli')
  await windfall.declare({ ...late.config, metrics: { ...late.config.metrics, small_business: true } })
  await expectRight()
  expect(await sumOf('proceeds_milli')).toBeGreaterThan(before)
})

test('a list reads stored proceeds, and a verification reports a wrong one', async () => {
  const { metrics, store } = late.windfall
  const [first] = await openCompared()
  await store.commit(() =>
    store.prepare('update customer_values set proceeds_milli = proceeds_milli + 1').run(),
  )
  expect((await openCompared())[0]?.listed.proceeds_milli).toBe((first?.counted.proceeds_milli ?? 0) + 1)
  expect((await metrics.verify()).difference).toMatch(
    /^the customer .*: proceeds_milli: stored \d+, expected \d+ from the facts/,
  )
})
