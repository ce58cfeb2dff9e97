import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Verified } from '../../../src/apple/jws/signed.ts'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyTransaction } from '../../../src/apple/notification.ts'
import type { Transaction } from '../../../src/apple/payloads.ts'
import { BUNDLE, NOW, transactionPayload } from '../../apple/samples.ts'
import { handClock, openTestApp, sharedAuthority } from '../../helpers.ts'
import { runs } from '../../random.ts'

const DAY = 86_400_000

/** Purchases of a few accounts, some of which Apple identifies with each other. */
const sale = fc.record({
  lineage: fc.constantFrom('1', '2', '3', '4', '5'),
  account: fc.constantFrom(undefined, 'a', 'b', 'c'),
  before: fc.integer({ min: -1, max: 200 }),
  days: fc.constantFrom(7, 30, 365),
  price: fc.constantFrom(4_990, 9_990, 0),
  storefront: fc.constantFrom('USA', 'DEU'),
  currency: fc.constantFrom('USD', 'USD', 'XAF'),
  revoked: fc.option(fc.integer({ min: 0, max: 20 }), { freq: 5 }),
})
type Sale = typeof sale extends fc.Arbitrary<infer T> ? T : never

const payloadOf = ({ lineage, account, before, days, revoked, ...more }: Sale, index: number) => {
  const purchaseDate = NOW - before * DAY - index
  return transactionPayload({
    ...more,
    transactionId: index % 4 === 0 ? lineage : `${lineage}00${index}`,
    originalTransactionId: lineage,
    appTransactionId: account,
    purchaseDate,
    expiresDate: purchaseDate + days * DAY,
    signedDate: NOW - DAY + index,
    originalPurchaseDate: NOW - (300 + Number(lineage)) * DAY,
    ...(revoked !== null && { revocationDate: purchaseDate + revoked * DAY }),
  })
}

/** All rows of customers and cohorts, without numbers that depend on the order of arrival. */
async function figuresAfter(facts: readonly Verified<Transaction>[], readBetween: boolean) {
  const app = await openTestApp({ clock: handClock(NOW) })
  const { store, apps, ledger, metrics } = app.windfall
  await store.commit(() => void store.prepare("update apps set id = 'app_one'").run())
  const [own] = apps.byBundle(BUNDLE)
  for (const fact of facts) {
    await store.commit(() => own && ledger.applyTransaction(own, fact, { origin: 'live', source: 'device' }))
    if (readBetween) await metrics.whenCurrent()
  }
  await metrics.whenCurrent()
  const rows = () => ({
    customers: store
      .prepare<[], Record<string, unknown>>('select * from customer_values order by id')
      .all()
      .map(({ generation: _, lineage_id: __, ...row }) => row),
    cells: store
      .prepare(`
        select kind, product_id, storefront, period, cohort, position, count, charged_milli, refunded_milli, prorated_milli
        from cohort_cells join cohort_series on id = series_id
        where count <> 0 or charged_milli <> 0 or refunded_milli <> 0 or prorated_milli <> 0
        order by kind, product_id, storefront, period, cohort, position`)
      .all(),
  })
  const kept = rows()
  expect(rows()).toEqual(kept)
  await app.close()
  return kept
}

const TITLE =
  'the same purchases give the same customers and cohorts in any order, with or without reads in between'

test(TITLE, { timeout: 600_000 }, async () => {
  const { sign, root_pem } = await sharedAuthority()
  const verifier = openVerifier({ roots: [root_pem], clock: () => NOW })
  const seen = { merged: 0, cells: 0 }
  const some = fc.record({
    sales: fc.array(sale, { minLength: 3, maxLength: 10 }),
    chance: fc.infiniteStream(fc.nat()),
  })
  const property = fc.asyncProperty(some, async ({ sales, chance }) => {
    const facts = await Promise.all(
      sales.map((one, index) => verifyTransaction(verifier, sign(payloadOf(one, index)))),
    )
    const shuffled = facts
      .map((fact) => [chance.next().value, fact] as const)
      .sort(([a], [b]) => a - b)
      .map(([, fact]) => fact)
    const [one, other] = [await figuresAfter(facts, false), await figuresAfter(shuffled, true)]
    expect(other).toEqual(one)
    seen.merged += one.customers.filter(({ lineages }) => Number(lineages) > 1).length
    seen.cells += one.cells.length
  })
  await fc.assert(property, runs(12, 400))
  expect(seen.merged).toBeGreaterThan(3)
  expect(seen.cells).toBeGreaterThan(100)
})
