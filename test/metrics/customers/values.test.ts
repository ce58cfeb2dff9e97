/** Compares customers with the books of the simulated store, which no code of the metrics writes. */
import { beforeAll, expect, test } from 'vitest'
import { fill } from '../../../src/demo/fill.ts'
import { openSimulation, type Simulation } from '../../../src/demo/simulation.ts'
import { customerId } from '../../../src/ledger/customers.ts'
import { handClock, openTestApp, rowsOf, sharedAuthority, type TestApp } from '../../helpers.ts'
import { seed } from '../../random.ts'

const DAY = 86_400_000
const UNTIL = Date.UTC(2026, 5, 1)
const FROM = UNTIL - 400 * DAY
const TABLES = ['customer_values', 'cohort_customers', 'cohort_cells']

let app: TestApp
let simulation: Simulation
beforeAll(async () => {
  const authority = await sharedAuthority()
  simulation = openSimulation({
    seed,
    from: FROM,
    until: UNTIL,
    subscribers: 120,
    edgeCases: true,
    authority,
  })
  const clock = handClock(FROM)
  app = await openTestApp({ clock, apps: simulation.apps.map(({ bundle_id }) => ({ bundle_id })) })
  await fill(app.windfall, simulation.steps(), clock, () => {})
  clock.set(UNTIL)
  await app.windfall.metrics.whenCurrent()
})

/** Excludes zero sums, and numbers that each generation assigns. */
const kept = () =>
  TABLES.map((table) =>
    rowsOf(app.windfall.store, table)
      .filter((row) => !row.includes('"count":0,"charged_milli":0,"refunded_milli":0,"prorated_milli":0'))
      .map((row) => row.replace(/"(generation|scope_id|series_id)":\d+,/g, ''))
      .sort(),
  )

type Sums = Record<string, number>

/** By person and currency in the books: charges less refunds and prorations, of known prices. */
function booksOf(): Map<string, Sums> {
  const persons = new Map<string, Sums>()
  for (const entry of simulation.books.entries) {
    const { kind, person, environment, bundle_id, has_price, currency, at } = entry
    if (environment !== 'production' || !has_price || at > UNTIL) continue
    const sign = {
      charge: entry.price_milli,
      refund: -entry.refunded_milli,
      refund_reversed: entry.refunded_milli,
      proration: -entry.refunded_milli,
    }[kind as string]
    if (sign === undefined) continue
    const key = `${bundle_id} ${person}`
    const sums = persons.get(key) ?? {}
    sums[currency] = (sums[currency] ?? 0) + sign
    persons.set(key, sums)
  }
  return persons
}

const plus = (a: Sums, b: Sums): Sums =>
  Object.fromEntries(
    [...Object.keys(a), ...Object.keys(b)].map((code) => [code, (a[code] ?? 0) + (b[code] ?? 0)]),
  )

/** A customer’s payments by currency, from the profile. */
function sumsOf(id: string): Sums {
  const { ltv_milli = 0, currency, unconverted } = app.windfall.customers.profile(id)?.customer ?? {}
  return plus({ [currency ?? '']: ltv_milli }, unconverted ?? {})
}

/** The customers with payments. */
const nonZero = (persons: Map<string, Sums>) =>
  [...persons]
    .map(([personKey, sums]) => [personKey, Object.entries(sums).filter(([, milli]) => milli !== 0)] as const)
    .filter(([, sums]) => sums.length > 0)
    .map(([personKey, sums]) => [personKey, Object.fromEntries(sums.sort())] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))

test('the payments of each person equal the books, in each currency', async () => {
  const { windfall } = app
  const owners = new Map<string, string>()
  for (const { person, original_transaction_id, bundle_id, environment } of simulation.books.entries) {
    if (environment !== 'production') continue
    const [own] = windfall.apps.byBundle(bundle_id)
    const id = windfall.ledger.customers.resolve(
      customerId(own?.id ?? '', 'production', original_transaction_id),
    )
    if (id) owners.set(id, `${bundle_id} ${person}`)
  }
  const found = new Map<string, Sums>()
  for (const [id, owner] of owners) found.set(owner, plus(found.get(owner) ?? {}, sumsOf(id)))
  expect(owners.size).toBeGreaterThan(100)
  expect(nonZero(found)).toEqual(nonZero(booksOf()))
})

test('a rebuild gives the same values', async () => {
  const before = kept()
  expect(await app.windfall.metrics.rebuild()).toBeGreaterThan(100)
  expect(kept()).toEqual(before)
})
