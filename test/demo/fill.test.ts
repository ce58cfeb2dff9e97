import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../src/demo/fill.ts'
import { openSimulation, type Simulation } from '../../src/demo/simulation.ts'
import { handClock, openTestApp, sharedAuthority, type TestApp } from '../helpers.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)
const FROM = UNTIL - 730 * DAY

let app: TestApp
let simulation: Simulation
let steps: number

beforeAll(async () => {
  const authority = await sharedAuthority()
  simulation = openSimulation({ seed: 7, from: FROM, until: UNTIL, subscribers: 150, authority })
  const clock = handClock(FROM)
  app = await openTestApp({
    clock,
    apps: simulation.apps.map(({ bundle_id, android_package }) => ({ bundle_id, android_package })),
  })
  steps = await fill(app.windfall, simulation.steps(), clock, () => {})
})

const all = <Row>(sql: string): Row[] => app.windfall.store.prepare<[], Row>(sql).all()
/** Late notifications may still be undelivered at the end of the history. */
const SETTLED = { until: UNTIL - 5 * DAY, environment: 'production' } as const

test('a history fills a database: every step has its effect, and events are in order', () => {
  expect(steps).toBeGreaterThan(500)
  const events = app.feed([...new Set(app.feed().map((event) => event.type)), 'transaction.recorded'])
  expect(events.length).toBeGreaterThan(steps / 2)
  expect(
    events.every((event, index) => index === 0 || event.recorded_at >= (events[index - 1]?.recorded_at ?? 0)),
  ).toBe(true)
  expect(events.every((event) => event.recorded_at >= FROM && event.recorded_at <= UNTIL)).toBe(true)
})

test('charges and refunds match the store’s books by currency, to the thousandth', () => {
  const reported = all<{ currency: string; charged: number }>(`
    select currency, sum(price_milli) as charged from transactions
    where environment = 'production' and ownership = 'PURCHASED' and price_milli > 0 and purchased_at <= ${SETTLED.until}
    group by currency`)
  const books: Record<string, number> = { ...simulation.books.charged(SETTLED) }
  // The books also have the price of transactions that Apple signed without one.
  for (const entry of simulation.books.entries) {
    const isUnpriced = entry.kind === 'charge' && !entry.has_price && entry.environment === 'production'
    if (isUnpriced && entry.at <= SETTLED.until)
      books[entry.currency] = (books[entry.currency] ?? 0) - entry.price_milli
  }
  const nonzero = Object.entries(books).filter(([, amount]) => amount !== 0)
  expect(Object.fromEntries(reported.map((row) => [row.currency, row.charged]))).toEqual(
    Object.fromEntries(nonzero),
  )
})

test('every purchase has the user of the books, with the same proofs', () => {
  const links = all<{
    bundle_id: string
    store: 'apple' | 'google'
    transaction_id: string
    app_user_id: string
    proved_app_user_id: string | null
  }>(`
    select bundle_id, store, transaction_id, app_user_id, proved_app_user_id
    from links join apps on apps.id = links.app_id`)
  expect(links.length).toBeGreaterThan(50)
  for (const link of links) {
    const book = simulation.books.linkOf(link.bundle_id, link.transaction_id, link.store)
    expect(link).toMatchObject({
      app_user_id: book?.app_user_id,
      proved_app_user_id: book?.proved_app_user_id ?? null,
    })
  }
})

test('active subscriptions at the end match the books', () => {
  const at = UNTIL - 5 * DAY
  const alive = simulation.books.activeSubscriptions(at).length + simulation.books.activeTrials(at).length
  const reported = all<{ n: number }>(`
    select count(distinct original_transaction_id) as n from transactions
    where environment = 'production' and ownership = 'PURCHASED' and kind = 'Auto-Renewable Subscription'
      and purchased_at <= ${at} and expires_at > ${at} and (revoked_at is null or revoked_at > ${at}) and is_upgraded = 0`)
  // Grace periods and free offers differ between the two counts: a few percent.
  expect(Math.abs((reported[0]?.n ?? 0) - alive)).toBeLessThanOrEqual(Math.ceil(alive * 0.1))
  expect(alive).toBeGreaterThan(20)
})

test('every converted trial of the books has a conversion event', () => {
  const reported = new Set(app.feed(['trial.converted']).map((event) => event.subject))
  const books = simulation.books.entries.filter(
    (entry) => entry.kind === 'trial_converted' && entry.at <= SETTLED.until,
  )
  expect(books.length).toBeGreaterThan(10)
  for (const entry of books) expect(reported).toContain(entry.original_transaction_id)
})

test('a hard-coded app account token joins no customers', () => {
  const shared = all<{ app_account_token: string; people: number }>(`
    select app_account_token, count(distinct canonical_id) as people from transactions
    join customers using (app_id, environment, original_transaction_id)
    where app_account_token is not null group by app_account_token having people > 1`)
  expect(shared.length).toBeGreaterThan(0)
})
