/** Refused events wait for their retries beside the others: they delay no new event, and none is given up too early. */
import { expect, test } from 'vitest'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const COLUMNS = `endpoint_id, replay_id, event_id, seq, payload_id, type, app_id, environment, key, is_test, is_remade,
  failures, occurred_at, created_at`

test('refused events that wait for a far retry do not hold back new ones', { timeout: 120_000 }, async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1_500)
  await app.run(40 * MINUTE_MS)
  expect(app.rows(id)).toHaveLength(1_500)
  receiver.behave(() => 200)
  const [fresh = ''] = await app.append(1)
  await app.settled()
  expect(receiver.ids()).toContain(fresh)
})

test('20,000 refused events that become due together never delay a new one', {
  timeout: 120_000,
}, async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const { store, forwarding } = app.windfall
  await app.append(1)
  await app.settled()
  await store.commit(() => forwarding.endpoints.pause(id))
  await store.commit(() => {
    store
      .prepare(
        `insert into deliveries (${COLUMNS}, state, attempts, next_at)
         select ${COLUMNS}, 'waiting', 1, ? from deliveries, generate_series(1, 20000)`.replace(
          'generate_series(1, 20000)',
          '(with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) select i from n)',
        ),
      )
      .run(app.clock())
  })
  await store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  const [fresh = ''] = await app.append(1)
  await expect.poll(() => receiver.ids().indexOf(fresh), { timeout: 2 * SECOND_MS }).toBeGreaterThan(-1)
  expect(receiver.ids().indexOf(fresh)).toBeLessThan(200)
  await store.commit(() => forwarding.endpoints.pause(id))
  await app.settled()
})

test.each([{}, { is_ordered: true }, { max_per_second: 1_000 }])(
  'refused events whose answers take long leave a slot for a new one: %o',
  async (settings) => {
    const receiver = await openHttpReceiver(() => 400)
    const app = await openForwardingApp()
    await app.addEndpoint(receiver.url, settings)
    const refused = await app.append(12)
    await app.settled()
    const held = new Map<string, () => void>()
    receiver.behave(({ id }, response) => void held.set(id, () => response.writeHead(400).end()))
    app.clock.turn(10 * SECOND_MS)
    await app.windfall.forwarding.tick()
    await expect.poll(() => held.size).toBe(3)
    const [fresh = '', next = ''] = await app.append(2)
    await expect.poll(() => held.has(fresh)).toBe(true)
    expect([...held.keys()].filter((id) => refused.includes(id))).toHaveLength(3)
    // New events may take all slots.
    const [first] = held.keys()
    held.get(first ?? '')?.()
    held.delete(first ?? '')
    await expect.poll(() => held.has(next)).toBe(true)
    receiver.behave(() => 200)
    for (const answer of held.values()) answer()
    await app.run(HOUR_MS)
    expect(Object.values(app.states()).every((state) => state === 'delivered')).toBe(true)
  },
)

test('refused events of many endpoints whose answers take long leave slots for a new one', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  for (let index = 0; index < 12; index += 1) await app.addEndpoint(`${receiver.url}/${index}`)
  const refused = await app.append(4)
  await app.settled()
  const held: { id: string; answer: () => void }[] = []
  receiver.behave(({ id }, response) => {
    const answer = (): void => void (response.headersSent || response.writeHead(400).end())
    held.push({ id, answer })
  })
  app.clock.turn(10 * SECOND_MS)
  await app.windfall.forwarding.tick()
  await expect.poll(() => held.length).toBe(24)
  const [fresh = ''] = await app.append(1)
  const got = () => held.filter(({ id }) => id === fresh).length
  await expect.poll(got).toBe(8)
  // The others get it when one of these requests ends, although its endpoint has more to repeat.
  const repeated = held.filter(({ id }) => refused.includes(id))
  expect(repeated).toHaveLength(24)
  for (let index = 0; index < 4; index += 1) {
    repeated[index]?.answer()
    await expect.poll(got).toBe(9 + index)
  }
  expect(held.filter(({ id }) => refused.includes(id))).toHaveLength(24)
  receiver.behave(() => 200)
  for (const { answer } of held) answer()
  await app.run(HOUR_MS)
  expect(Object.values(app.states()).every((state) => state === 'delivered')).toBe(true)
})

test('failing endpoints that do not answer leave slots for a new event of another one', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  for (let index = 0; index < 40; index += 1) await app.addEndpoint(`${receiver.url}/${index}`)
  await app.append(5)
  await app.settled()
  const states = app.windfall.forwarding.endpoints.list().map(({ state }) => state)
  expect(new Set(states)).toEqual(new Set(['failing']))
  const healthy = await openHttpReceiver(() => 200)
  await app.addEndpoint(healthy.url)
  const held: (() => void)[] = []
  receiver.behave((_, response) => void held.push(() => response.writeHead(200).end()))
  app.clock.turn(2 * MINUTE_MS)
  await app.windfall.forwarding.tick()
  await expect.poll(() => held.length).toBe(28)
  const [fresh = ''] = await app.append(1)
  await expect.poll(() => healthy.ids()).toContain(fresh)
  expect(held).toHaveLength(28)
  receiver.behave(() => 200)
  for (const answer of held) answer()
  await app.run(HOUR_MS)
  expect(Object.values(app.states()).every((state) => state === 'delivered')).toBe(true)
})

test('the newest 1,000 refused events keep their body; those of older ones are made again, marked and stored before they are sent', {
  timeout: 120_000,
}, async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1_100)
  await app.settled()
  const kept = app.rows(id).filter(({ body_bytes }) => body_bytes !== null)
  expect(kept.map((row) => row.id)).toEqual(
    app
      .rows(id)
      .slice(100)
      .map((row) => row.id),
  )
  const stored = new Map<string, string | undefined>()
  const remade = app.windfall.store.prepare<[string], { id: number }>(
    'select id from deliveries where event_id = ? and is_remade = 1',
  )
  receiver.behave(({ id: event_id }) => {
    const row = remade.get(event_id)
    if (row) stored.set(event_id, app.windfall.forwarding.log.body(row.id)?.toString())
    return 200
  })
  await app.run(10 * MINUTE_MS)
  expect(app.rows(id).every(({ state }) => state === 'delivered')).toBe(true)
  expect(app.rows(id).filter(({ is_remade }) => is_remade === 1)).toHaveLength(100)
  const sent = new Map(receiver.requests.map(({ id: event_id, body }) => [event_id, body]))
  expect(stored.size).toBe(100)
  for (const [event_id, body] of stored) expect(body).toBe(sent.get(event_id))
})

test('at 50,000 refused events newer ones wait, and a finding says so and what to do', {
  timeout: 120_000,
}, async () => {
  const receiver = await openHttpReceiver(() => 400)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend' })).endpoint
  const { store, forwarding } = app.windfall
  await app.append(1)
  await app.settled()
  await store.commit(() =>
    store
      .prepare(`
      insert into deliveries (${COLUMNS}, state, attempts, next_at)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 49999)
        select ${COLUMNS}, 'waiting', 1, next_at + ${DAY_MS} from deliveries, n`)
      .run(),
  )
  expect(forwarding.findings()).toEqual([])
  const [fresh = ''] = await app.append(1)
  receiver.behave(({ id: event_id }) => (event_id === fresh ? 200 : 400))
  await app.settled()
  expect(receiver.ids()).not.toContain(fresh)
  expect(forwarding.findings()).toMatchObject([
    {
      state: 'fault',
      text: expect.stringMatching(/^50,000 events that backend did not accept/),
      details: { remedy: expect.stringContaining('windfall webhooks resume backend --from-now') },
    },
  ])
  receiver.behave(() => 200)
  await app.run(MINUTE_MS)
  expect(receiver.ids()).toContain(fresh)
  expect(forwarding.findings()).toEqual([])
  await store.commit(() => forwarding.endpoints.pause(id))
  await store.commit(() => forwarding.endpoints.resume(id, 'now'))
  expect(app.rows(id).filter(({ state }) => state === 'waiting')).toEqual([])
})

test('one event in a week against a dead receiver is never given up, and the endpoint is paused after 120 hours', async () => {
  const receiver = await openHttpReceiver((_, response) => void response.destroy())
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.run(119 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('failing')
  await app.run(2 * DAY_MS)
  expect(app.endpoint(id)).toMatchObject({ state: 'paused', reason: 'five_days' })
  expect(app.rows(id)).toMatchObject([{ state: 'waiting' }])
})

test('a failing endpoint tries each new event once at once, at most one a minute, and no schedule is used up', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.run(12 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('failing')
  const before = receiver.requests.length
  const [one = '', two = ''] = await app.append(2)
  await app.settled()
  expect(receiver.ids().slice(before)).toEqual([one])
  await app.run(SECOND_MS * 59)
  expect(receiver.ids().slice(before)).not.toContain(two)
  app.clock.turn(2 * SECOND_MS)
  await app.settled()
  expect(receiver.ids().slice(before)).toContain(two)
  expect(app.rows(id).map(({ failures }) => failures)).toEqual([5, 0, 0])
  receiver.behave(({ id: event_id }) => (event_id === receiver.ids()[0] ? 500 : 200))
  app.clock.turn(MINUTE_MS)
  const [sale = ''] = await app.append(1)
  await app.settled()
  expect(receiver.ids()).toContain(sale)
  expect(app.endpoint(id).state).toBe('active')
})

test('an event that is recorded in the turn in which its endpoint begins to fail is new', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const { store } = app.windfall
  const { commit } = store
  let fresh: string | undefined
  store.commit = async (work) => {
    const done = await commit(work)
    if (fresh === undefined && app.endpoint(id).state === 'failing') {
      fresh = ''
      ;[fresh] = await app.append(1)
    }
    return done
  }
  await app.append(5)
  await app.settled()
  expect(app.endpoint(id).state).toBe('failing')
  expect(receiver.ids()).toContain(fresh)
})

test('a new event obeys the hold that the receiver asked for', async () => {
  const receiver = await openHttpReceiver(
    (_, response) => void response.writeHead(503, { 'retry-after': '600' }).end(),
  )
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  await app.append(1)
  await app.run(12 * HOUR_MS)
  expect(app.endpoint(id).state).toBe('failing')
  const { hold_until_at } = app.endpoint(id)
  if ((hold_until_at ?? 0) <= app.clock()) await app.run(HOUR_MS)
  const held = (app.endpoint(id).hold_until_at ?? 0) > app.clock()
  const [fresh = ''] = await app.append(1)
  await app.settled()
  expect(receiver.ids().includes(fresh)).toBe(!held)
})
