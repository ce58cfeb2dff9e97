import { expect, test } from 'vitest'
import { EXAMPLE_ORDER, orderIdOf } from '../../../src/demo/store/history.ts'
import { openTestApp } from '../../helpers.ts'
import { connectTo, openShop } from './connected_shop.ts'
import { refusal } from './fault_proxy.ts'

type Body = {
  order_lookup?: string | null
  customers?: { original_transaction_ids: string[] }[]
  code?: string
  detail?: string
}

async function opened() {
  const shop = await openShop({ subscribers: 60, days: 60 })
  const app = await connectTo(shop)
  await app.windfall.history.backfill()
  await app.windfall.metrics.whenCurrent()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const get = async (query: string, more = '') => {
    const response = await app.request(`/api/v1/customers?query=${encodeURIComponent(query)}${more}`, {
      headers,
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const person = shop.people().find((one) => one.environment === 'production')
  const held = person ? shop.simulation.world.of(person) : []
  const sale = held.at(-1)?.sale
  if (!sale) throw new Error('the shop has no purchase in production')
  const asked = () => shop.store.requests.filter(({ path }) => path.startsWith('/inApps/v1/lookup/')).length
  return { shop, get, sale, asked }
}

test('finds the customer of an order id on a receipt, in any case and with spaces', async () => {
  const { get, sale, asked } = await opened()
  const id = orderIdOf(sale.transactionId)
  for (const query of [id, ` ${id.toLowerCase()} `, `${id.slice(0, 4)} ${id.slice(4)}`]) {
    const { status, body } = await get(query)
    expect([query, status, body.customers?.length]).toEqual([query, 200, 1])
    expect(body.customers?.[0]?.original_transaction_ids).toContain(sale.originalTransactionId)
  }
  expect(asked()).toBeGreaterThan(0)
  const example = (await get(EXAMPLE_ORDER)).body
  expect([example.order_lookup, example.customers?.length]).toEqual(['found', 1])
})

test('says whether Apple was asked', async () => {
  const { get, sale } = await opened()
  expect((await get('M000000001')).body.order_lookup).toBe('not_found')
  expect((await get('mariahcarey')).body.order_lookup).toBeNull()
  expect((await get(orderIdOf(sale.transactionId), '&environment=sandbox')).body.order_lookup).toBe(
    'not_production',
  )
  const app = await openTestApp()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const keyless = await app.request('/api/v1/customers?query=M000000001', { headers })
  expect(await keyless.json()).toMatchObject({ customers: [], order_lookup: 'no_key' })
})

test('asks Apple only for what can be an order id of production, and finds nothing for an unknown one', async () => {
  const { get, sale, asked } = await opened()
  expect((await get('M000000001')).body.customers).toEqual([])
  const before = asked()
  for (const query of ['mariahcarey', 'M1', 'X12345678', 'cus_123456789'])
    expect((await get(query)).body.customers).toEqual([])
  const sandbox = await get(orderIdOf(sale.transactionId), '&environment=sandbox')
  expect(sandbox.body.customers).toEqual([])
  expect(asked()).toBe(before)
})

test('says that Apple refused', async () => {
  const { shop, get } = await opened()
  shop.production.intercept = () => refusal(4_010_000, 'The key may not look up orders.')
  const { status, body } = await get('M000000001')
  expect(status).toBe(502)
  expect(body).toMatchObject({ code: 'apple', detail: expect.any(String) })
})
