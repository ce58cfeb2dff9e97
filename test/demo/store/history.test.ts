import { afterAll, expect, test } from 'vitest'
import type { TransactionBody } from '../../../src/demo/world/unsigned.ts'
import { aboutTransactions, notificationsOf } from '../run_simulation.ts'
import { DAY, openTestStore, read, UNTIL } from './opened.ts'

const opened = await openTestStore({ seed: 5, subscribers: 150, edgeCases: true })
const { store, server, simulation, clock } = opened
afterAll(() => opened.close())

const about = aboutTransactions(notificationsOf([...simulation.steps()]))
const byPerson = Map.groupBy(
  store.transactions(),
  (shown) => `${shown.environment} ${shown.customer} ${shown.bundle_id}`,
)
const [busiest = []] = [...byPerson.values()].sort((a, b) => b.length - a.length)
const tokenClaims = (of: typeof busiest) => ({
  bid: of[0]?.bundle_id ?? '',
  sandbox: of[0]?.environment === 'sandbox',
})

async function historyOf(id: string, tokenClaims: { bid: string; sandbox: boolean }, query = '') {
  const all: TransactionBody[] = []
  let revision: string | null = null
  for (;;) {
    const more: string = revision === null ? '' : `&revision=${revision}`
    const { status, json } = await server(`/inApps/v2/history/${id}?${query}${more}`, tokenClaims)
    expect(status).toBe(200)
    expect(json.signedTransactions.length).toBeLessThanOrEqual(20)
    all.push(...json.signedTransactions.map(read))
    revision = json.revision
    if (!json.hasMore) return { all, revision: json.revision, head: json }
  }
}

test('returns all transactions of a customer for any of their ids, the last changed at the end', async () => {
  expect(busiest.length).toBeGreaterThan(20)
  const [first] = busiest
  const transaction = first?.transaction
  const person = simulation.world.find(first?.environment ?? 'production', transaction?.transactionId ?? '')
  const ids = [
    transaction?.originalTransactionId,
    busiest.at(-1)?.transaction.transactionId,
    person?.app_transaction_id,
  ]
  for (const id of ids) {
    const { all, head } = await historyOf(id ?? '', tokenClaims(busiest))
    expect(all.map((t) => t.transactionId).sort()).toEqual(
      busiest.map((s) => s.transaction.transactionId).sort(),
    )
    const dates = all.map((t) => t.signedDate)
    expect(dates).toEqual([...dates].sort((a, b) => a - b))
    expect(head).toMatchObject({ bundleId: first?.bundle_id, environment: transaction?.environment })
  }
})

test('has a history for every customer, with the latest revision of each transaction', async () => {
  const byTransaction = new Map(about.map((a) => [a.transaction.transactionId, a.transaction]))
  let changed = 0
  for (const of of [...byPerson.values()].slice(0, 60)) {
    const { all } = await historyOf(of[0]?.transaction.transactionId ?? '', tokenClaims(of))
    for (const t of all) {
      const { signedDate, appTransactionId: _, ...rest } = t
      const {
        signedDate: at = 0,
        appTransactionId: __,
        ...last
      } = byTransaction.get(t.transactionId) ?? { ...t, signedDate: 0 }
      if (signedDate > at) changed += 1
      else expect(rest).toEqual(last)
    }
  }
  expect(changed).toBeGreaterThan(0)
})

test('shows upgrades, revocations and refunds that no single notification has', () => {
  const all = store.transactions().map((shown) => shown.transaction)
  expect(all.filter((t) => t.isUpgraded).length).toBeGreaterThan(3)
  expect(all.filter((t) => t.revocationType === 'FAMILY_REVOKE').length).toBeGreaterThan(0)
  expect(all.filter((t) => t.revocationReason !== undefined).length).toBeGreaterThan(5)
  expect(about.some((a) => a.transaction.isUpgraded)).toBe(false)
})

test('returns only later changes after a revision', async () => {
  const of = tokenClaims(busiest)
  const id = busiest[0]?.transaction.transactionId ?? ''
  const { revision } = await historyOf(id, of)
  const again = (await server(`/inApps/v2/history/${id}?revision=${revision}`, of)).json
  expect([again.signedTransactions, again.hasMore, again.revision]).toEqual([[], false, revision])
  const person = simulation.world.find(busiest[0]?.environment ?? 'production', id)
  const [held] = person ? simulation.world.of(person) : []
  if (held === undefined) throw new Error('the customer has no transactions')
  clock.turn(DAY)
  simulation.catchUp(clock())
  simulation.world.update(held.sale, () => {
    held.sale.isUpgraded = true
  })
  const more = (await server(`/inApps/v2/history/${id}?revision=${revision}`, of)).json
  const ids = more.signedTransactions.map((jws: string) => read(jws).transactionId)
  expect(ids).toContain(held.sale.transactionId)
  expect(ids.length).toBeLessThan(busiest.length)
  clock.set(UNTIL)
})

test('returns a history filtered and in reverse order', async () => {
  const of = tokenClaims(busiest)
  const id = busiest[0]?.transaction.transactionId ?? ''
  const { all } = await historyOf(id, of)
  const [product] = all.map((t) => t.productId)
  const parts = await historyOf(id, of, `productId=${product}`)
  expect(parts.all).toEqual(all.filter((t) => t.productId === product))
  expect((await historyOf(id, of, 'sort=DESCENDING')).all).toEqual([...all].reverse())
  const middle = all[Math.floor(all.length / 2)]?.purchaseDate ?? 0
  const since = await historyOf(id, of, `startDate=${middle}&productType=AUTO_RENEWABLE&revoked=false`)
  const isSince = (t: TransactionBody) => t.purchaseDate >= middle && t.revocationDate === undefined
  expect(since.all).toEqual(all.filter((t) => isSince(t) && t.type === 'Auto-Renewable Subscription'))
})

test('returns the status of the last notification about each subscription', async () => {
  const last = new Map(about.filter((a) => a.renewal).map((a) => [a.transaction.originalTransactionId, a]))
  const seen = new Set<number>()
  for (const of of [...byPerson.values()].slice(0, 80)) {
    const id = of[0]?.transaction.transactionId ?? ''
    const { status, json } = await server(`/inApps/v1/subscriptions/${id}`, tokenClaims(of))
    expect(status).toBe(200)
    for (const group of json.data) {
      for (const item of group.lastTransactions) {
        const byTransaction = last.get(item.originalTransactionId)
        const transaction = read(item.signedTransactionInfo)
        // The notifications of the last minute are not delivered yet.
        if (
          byTransaction === undefined ||
          read(item.signedRenewalInfo).signedDate > byTransaction.payload.signedDate
        )
          continue
        expect([item.status, read(item.signedRenewalInfo)]).toEqual([
          byTransaction.status,
          byTransaction.renewal,
        ])
        expect(transaction.subscriptionGroupIdentifier).toBe(group.subscriptionGroupIdentifier)
        seen.add(item.status)
      }
    }
  }
  expect(seen.size).toBeGreaterThan(2)
  const goods = [...byPerson.values()].find((of) => of.every((s) => s.transaction.type === 'Consumable'))
  if (goods === undefined) throw new Error('the history has no customer with one-time purchases only')
  const { json } = await server(
    `/inApps/v1/subscriptions/${goods[0]?.transaction.transactionId}`,
    tokenClaims(goods),
  )
  expect(json.data).toEqual([])
})

test('returns one transaction by its id', async () => {
  const [first] = busiest
  const path = `/inApps/v1/transactions/${first?.transaction.transactionId}`
  const { json } = await server(path, tokenClaims(busiest))
  expect(read(json.signedTransactionInfo)).toEqual(first?.transaction)
})

test('refuses invalid ids, unknown ids and those of another app', async () => {
  const of = tokenClaims(busiest)
  const id = busiest[0]?.transaction.transactionId ?? ''
  const code = async (path: string, more = of) => {
    const { status, json } = await server(path, more)
    return [status, json.errorCode]
  }
  for (const path of ['/inApps/v2/history', '/inApps/v1/subscriptions', '/inApps/v1/transactions']) {
    expect(await code(`${path}/410001299999999999`)).toEqual([404, 4_040_010])
    expect(await code(`${path}/${id}`, { ...of, sandbox: !of.sandbox })).toEqual([404, 4_040_010])
    const other = simulation.apps.find(({ bundle_id }) => bundle_id !== of.bid)?.bundle_id ?? ''
    expect(await code(`${path}/${id}`, { ...of, bid: other })).toEqual([404, 4_040_010])
    expect(await code(`${path}/abc`)).toEqual([400, 4_000_006])
  }
  expect(await code(`/inApps/v2/history/${id}?revision=abc`)).toEqual([400, 4_000_005])
  expect(await code('/inApps/v9/nothing')).toEqual([400, 4_000_000])
})
