/** Labels in the API: calls by day, and the filters of events and customers. */
import { expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { openAttested } from '../attribution/devices/enrolled.ts'

const DAY = 86_400_000
const MANY = 30

async function openLabelled() {
  const opened = await openAttested()
  const { app } = opened
  const owner = await app.signIn()
  const read = async <Answer>(path: string): Promise<Answer> =>
    (await (await app.request(`/api/v1/${path}`, { headers: owner })).json()) as Answer
  return { ...opened, owner, read }
}

type Calls = { from_on: string; until_on: string; calls: object[]; errors?: { path: string }[] }
type Events = { events: { type: string; data: { user?: { verification: string } } }[]; next: number | null }
type Customers = { customers: { id: string; app_user_ids: string[] }[]; next: string | null }

test('calls: by day, label and reason, for a range of days', async () => {
  const { app, attribute, clock, enrol, identify, owner, read, signed } = await openLabelled()
  await identify(null, 'ada', {}, { 'x-windfall-unattested': 'simulator' })
  clock.turn(DAY)
  await identify(await enrol(), 'ada')
  await attribute(null, 'ada', '1001', { jws: await signed('1001') })
  await attribute(null, 'ada', '1002')
  const first = {
    counted_on: '2026-06-01',
    endpoint: 'identify',
    verification: 'unverified',
    unattested: 'simulator',
    calls: 1,
  }
  const second = { counted_on: '2026-06-02', unattested: '', calls: 1 }
  const all = [
    first,
    { ...second, endpoint: 'attribute', verification: 'unverified' },
    { ...second, endpoint: 'attribute', verification: 'verified' },
    { ...second, endpoint: 'identify', verification: 'verified' },
  ]
  expect(await read<Calls>('calls')).toEqual({ from_on: '2026-03-05', until_on: '2026-06-02', calls: all })
  expect((await read<Calls>('calls?to=2026-06-01')).calls).toEqual([first])
  expect((await read<Calls>('calls?from=2026-06-02')).calls).toHaveLength(3)
  expect((await read<Calls>('calls?from=2026-06-03')).errors).toMatchObject([{ path: 'from' }])
  const csv = await (await app.request('/api/v1/calls.csv?to=2026-06-01', { headers: owner })).text()
  expect(csv).toBe(
    'counted_on,endpoint,verification,unattested,calls\r\n2026-06-01,identify,unverified,simulator,1\r\n',
  )
})

test('events: the label, the proofs, and why an unverified call was not attested', async () => {
  const { attribute, enrol, identify, read, send, signed } = await openLabelled()
  const simulator = { 'x-windfall-unattested': 'simulator' }
  await identify(null, 'ada', {}, simulator)
  const purchase = { bundleId: BUNDLE, appUserId: 'ada', originalTransactionId: '1001' }
  await send('/api/sdk/v1/attribute', purchase, simulator)
  await send('/api/sdk/v1/attribute', { ...purchase, appUserId: 'bob', jws: await signed('1001') }, simulator)
  await attribute(await enrol(), 'ada', '1002')
  const { events } = await read<Events>('events?type=customer.identified,customer.linked,customer.moved')
  const users = events.map(({ type, data }) => [type, data.user]).reverse()
  const unproved = { proved_app_user_id: null, verification: 'unverified', proofs: [] }
  expect(users).toEqual([
    ['customer.identified', { app_user_id: 'ada', verification: 'unverified', unattested: 'simulator' }],
    ['customer.linked', { app_user_id: 'ada', ...unproved, unattested: 'simulator' }],
    [
      'customer.moved',
      { app_user_id: 'bob', proved_app_user_id: 'bob', verification: 'verified', proofs: ['purchase'] },
    ],
    [
      'customer.linked',
      { app_user_id: 'ada', proved_app_user_id: 'ada', verification: 'unverified', proofs: ['device'] },
    ],
  ])
})

test('events: those with a verified or an unverified user, over pages that hold few of them', async () => {
  const { attribute, clock, read, signed } = await openLabelled()
  for (let n = 0; n < MANY; n += 1) {
    clock.turn(1_000)
    const id = String(5_000 + n)
    await attribute(null, `user-${n}`, id, n % 10 === 0 ? { jws: await signed(id) } : {})
  }
  async function all(query: string, direction: 'before' | 'after'): Promise<Events['events']> {
    const found: Events['events'] = []
    let position = direction === 'after' ? 0 : null
    for (let pages = 0; pages < 100; pages += 1) {
      const at = position === null ? '' : `&${direction}=${position}`
      const page = await read<Events>(`events?limit=2&${query}${at}`)
      found.push(...page.events)
      if (page.next === null || page.next === position) return found
      position = page.next
    }
    throw new Error('the pages do not end')
  }
  for (const [label, count] of [
    ['verified', MANY / 10],
    ['unverified', (MANY * 9) / 10],
  ] as const) {
    const found = await all(`label=${label}`, 'before')
    expect(found.filter(({ type }) => type === 'customer.linked')).toHaveLength(count)
    expect(new Set(found.map(({ data }) => data.user?.verification))).toEqual(new Set([label]))
    expect(await all(`label=${label}`, 'after')).toEqual(found.toReversed())
  }
})

test('customers: by the label of their users, over pages', async () => {
  const { attribute, app, read, signed } = await openLabelled()
  const { ledger, store, apps, verifier } = app.windfall
  const { verifyTransaction } = await import('../../src/apple/notification.ts')
  const [connected] = apps.list()
  if (!connected) throw new Error('no app')
  for (let n = 0; n < MANY; n += 1) {
    const id = String(7_000 + n)
    const over = { originalTransactionId: id, transactionId: id, webOrderLineItemId: id }
    const jws = await signed(id, { ...over, appAccountToken: undefined, appTransactionId: id })
    if (n % 3 === 0) await attribute(null, `user-${n}`, id, { jws })
    else {
      const transaction = await verifyTransaction(verifier, jws)
      await store.commit(() =>
        ledger.applyTransaction(connected, transaction, { origin: 'live', source: 'device' }),
      )
      if (n % 3 === 1) await attribute(null, `user-${n}`, id)
    }
  }
  for (const label of ['verified', 'unverified', 'none']) {
    const found: Customers['customers'] = []
    let next: string | null = null
    do {
      const cursor: string = next === null ? '' : `&cursor=${next}`
      const page: Customers = await read<Customers>(`customers?label=${label}&limit=4${cursor}`)
      expect(page.customers.length).toBeLessThanOrEqual(4)
      found.push(...page.customers)
      next = page.next
    } while (next !== null)
    expect(found, label).toHaveLength(MANY / 3)
    expect(new Set(found.map(({ id }) => id)).size).toBe(MANY / 3)
    const numbers = found.flatMap(({ app_user_ids }) => app_user_ids).map((user) => Number(user.slice(5)) % 3)
    expect(new Set(numbers)).toEqual(new Set({ verified: [0], unverified: [1], none: [] }[label]))
  }
  expect((await read<Customers>('customers?label=verified&query=user-1')).customers).toEqual([])
  expect((await read<Customers>('customers?label=unverified&query=user-1')).customers).toHaveLength(1)
})
