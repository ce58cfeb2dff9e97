import { expect, test } from 'vitest'
import { connectTo, DAY, HOUR, holdCommits, openShop } from './connected_shop.ts'
import { refusal } from './fault_proxy.ts'

const MINUTE = 60_000

/** Connected, with nothing read: every id that an app names is unknown. */
async function opened() {
  const shop = await openShop({ subscribers: 150, days: 60 })
  const app = await connectTo(shop)
  const attribute = async (bundleId: string, originalTransactionId: string, appUserId = 'ada') => {
    const { status } = await app.post('/api/sdk/v1/attribute', { appUserId, bundleId, originalTransactionId })
    expect(status).toBe(200)
  }
  const requested = () =>
    shop.store.requests.filter(({ path }) => path.startsWith('/inApps/v2/history/')).length
  const purchaseIn = (environment: string) => {
    const person = shop.people().find((one) => one.environment === environment)
    const { sale } = (person && shop.simulation.world.of(person)[0]) ?? {}
    if (!person || !sale) throw new Error(`the shop has no purchase in ${environment}`)
    return { bundle_id: person.app.bundle_id, id: sale.transactionId, person }
  }
  const { history } = app.windfall
  return { shop, app, history, attribute, requested, purchaseIn, lookUp: history.lookUp }
}

const totals = (all: readonly { requested: number; found: number; waiting: number }[]) => ({
  requested: all.reduce((sum, one) => sum + one.requested, 0),
  found: all.reduce((sum, one) => sum + one.found, 0),
  waiting: all.reduce((sum, one) => sum + one.waiting, 0),
})

test('looks up an unknown id that an app names, in production and then in the sandbox', async () => {
  const { shop, app, attribute, purchaseIn, lookUp, requested, history } = await opened()
  const [one, other] = [purchaseIn('production'), purchaseIn('sandbox')]
  await attribute(one.bundle_id, one.id)
  await attribute(other.bundle_id, other.id, 'grace')
  expect(totals(await lookUp())).toEqual({ requested: 0, found: 0, waiting: 2 })
  expect(requested()).toBe(0)
  shop.clock.turn(2 * MINUTE)
  expect(totals(await lookUp())).toEqual({ requested: 2, found: 2, waiting: 0 })
  const names = [one, other].flatMap(({ person }) =>
    shop.simulation.world
      .of(person)
      .map(({ sale }) => `${person.app.bundle_id} ${person.environment} ${sale.transactionId}`),
  )
  expect(holdCommits(app)).toEqual(names.toSorted())
  const events = app.feed(['transaction.recorded'])
  expect(events.map(({ origin }) => origin)).toEqual(events.map(() => 'backfill'))
  expect(events.find(({ cause }) => cause === one.id)?.data.user).toMatchObject({ app_user_id: 'ada' })
  expect(app.windfall.ledger.customers.findByLineage(events[0]?.app_id ?? '', one.id)).not.toBeNull()
  expect(totals(await lookUp())).toEqual({ requested: 0, found: 0, waiting: 0 })
  expect(history.progress().every(({ lookups }) => lookups === 0)).toBe(true)
})

test('looks up an id that Apple does not know at growing intervals, and gives up after six attempts', async () => {
  const { shop, app, attribute, lookUp } = await opened()
  await attribute('com.lanternlabs.tides', '999000999000999')
  const times: number[] = []
  const begun = shop.clock()
  for (let hour = 0; hour < 24 * 8; hour += 1) {
    for (const minutes of [2, 10, 48]) {
      shop.clock.turn(minutes * MINUTE)
      if (totals(await lookUp()).requested > 0) times.push(Math.round((shop.clock() - begun) / MINUTE))
    }
  }
  expect(times).toEqual([2, 12, 72, 432, 1872, 6192])
  const rows = app.windfall.store.prepare('select attempts, next_at, outcome from lookups').all()
  expect(rows).toEqual([{ attempts: 6, next_at: null, outcome: 'given_up' }])
  await attribute('com.lanternlabs.tides', '999000999000999')
  shop.clock.turn(DAY)
  expect(totals(await lookUp()).requested).toBe(0)
})

test('skips an id that Apple reported in the meantime, and one that is not an Apple id', async () => {
  const { shop, app, attribute, lookUp, requested, purchaseIn } = await opened()
  const { bundle_id, id, person } = purchaseIn('production')
  await attribute(bundle_id, id)
  await attribute(bundle_id, 'GPA.1234-5678')
  const first = shop
    .sent(bundle_id, 'production', 0, shop.clock())
    .find(({ data }) => data?.signedTransactionInfo?.appTransactionId === person.app_transaction_id)
  if (!first) throw new Error('the shop sent no notification')
  await app.windfall.arrivals.receive(shop.signed(first), null, null)
  shop.clock.turn(HOUR)
  expect(totals(await lookUp())).toEqual({ requested: 0, found: 0, waiting: 0 })
  expect(requested()).toBe(0)
  await attribute(bundle_id, id)
  shop.clock.turn(HOUR)
  expect(totals(await lookUp()).requested).toBe(0)
})

test('a fault of Apple’s changes no lookup; a refusal ends it', async () => {
  const { shop, app, attribute, lookUp, purchaseIn } = await opened()
  const { bundle_id, id } = purchaseIn('production')
  await attribute(bundle_id, id)
  shop.clock.turn(HOUR)
  shop.store.faults.unavailable_requests = 1_000
  const failed = (await lookUp()).filter(({ state }) => state === 'failed')
  expect(failed).toEqual([
    expect.objectContaining({ bundle_id, problem: expect.stringMatching(/is unavailable/), waiting: 1 }),
  ])
  shop.store.faults.unavailable_requests = 0
  expect(totals(await lookUp())).toMatchObject({ found: 1, waiting: 0 })
  await attribute(bundle_id, '123')
  shop.production.intercept = () => refusal(4_000_006)
  shop.clock.turn(HOUR)
  await lookUp()
  const rows = app.windfall.store
    .prepare("select outcome from lookups where original_transaction_id = '123'")
    .all()
  expect(rows).toEqual([{ outcome: 'refused' }])
})

test('looks up an id that was named while the clock was ahead with the right clock', async () => {
  const { shop, attribute, lookUp, purchaseIn } = await opened()
  const { bundle_id, id } = purchaseIn('production')
  const now = shop.clock()
  shop.clock.turn(400 * DAY)
  await attribute(bundle_id, id)
  shop.clock.set(now)
  expect(totals(await lookUp())).toEqual({ requested: 1, found: 1, waiting: 0 })
})
