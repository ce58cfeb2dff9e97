import { expect, test } from 'vitest'
import { addDays } from '../../../src/days.ts'
import { DAY } from '../../ledger/reports/samples.ts'
import { BEFORE, KELP_APPLE_ID, openVendor } from '../../ledger/reports/unconnected_vendor.ts'

type Answer = { apps: Record<string, unknown>[] }

async function open() {
  const app = await openVendor()
  const headers = await app.signIn()
  const get = async (query = '', from: Record<string, string> = headers) => {
    const response = await app.request(`/api/v1/unconnected-revenue${query}`, { headers: from })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  return { ...app, get, headers }
}

test('the owner sees what the reports have of apps that are not connected, in no metric', async () => {
  const { get, request, headers } = await open()
  const { body } = await get()
  expect(body.apps).toEqual([
    {
      organization_id: expect.stringMatching(/^org_/),
      name: 'Kelp',
      sku: 'KELP-1',
      apple_id: KELP_APPLE_ID,
      currency: 'USD',
      // 3.000 euros on the first day and 9.990 on the second. Proceeds: 4.200, 7.000, and 7.000 of the price in kronor.
      gross_milli: 15_990,
      proceeds_milli: 18_200,
      not_converted: { SEK: 50_000 },
      converted: null,
    },
  ])
  const revenue = await request(`/api/v1/metrics/revenue?from=${BEFORE}&to=${DAY}&zone=pacific`, { headers })
  const { series } = (await revenue.json()) as {
    series: { part: string | null; points: { milli: number }[] }[]
  }
  const whole = series.find(({ part }) => part === null)?.points ?? []
  expect(whole.reduce((sum, { milli }) => sum + milli, 0)).toBe(9_990)
})

test('for a range of days, and in another currency', async () => {
  const { get } = await open()
  expect((await get(`?to=${BEFORE}`)).body.apps).toMatchObject([
    { gross_milli: 6_000, proceeds_milli: 4_200, not_converted: {} },
  ])
  expect((await get(`?from=${BEFORE}&to=${BEFORE}&display_currency=EUR`)).body.apps).toMatchObject([
    { gross_milli: 3_000, proceeds_milli: 2_100, currency: 'EUR' },
  ])
  expect((await get(`?to=${addDays(BEFORE, -1)}`)).body).toEqual({ apps: [] })
  expect(await get(`?from=${DAY}&to=${BEFORE}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path: 'from' }] },
  })
})

test('it is for the owner alone: not for share links, nor for tokens', async () => {
  const { get, post, signIn, token, headers } = await open()
  const link = await post('/api/v1/share-links', { label: 'For the bank', basis: 'gross' }, headers)
  expect(link.status).toBe(201)
  const guest = await signIn(String(link.body.id))
  expect((await get('', guest)).status).toBe(403)
  expect((await get('', { authorization: `Bearer ${await token()}` })).status).toBe(401)
})

test('once the app is connected, its money is in the metrics', async () => {
  const { get, windfall, organization } = await open()
  await windfall.store.commit(() =>
    windfall.apps.add(
      organization.id,
      { bundle_id: 'com.example.kelp', apple_id: KELP_APPLE_ID, sku: 'KELP-1' },
      'test',
    ),
  )
  await windfall.imports.run({ days: 3 })
  await windfall.reported.settled()
  expect((await get()).body).toEqual({ apps: [] })
})
