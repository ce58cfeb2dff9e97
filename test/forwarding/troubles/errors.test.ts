/** Errors of this server while it forwards: one item must not stop the others, nor may a receiver be asked for ever. */
import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { expectErrors } from '../../guards/error_lines.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver } from '../receiving.ts'

beforeEach(() =>
  expectErrors('forwarding to an endpoint pauses', 'the result of a delivery could not be stored as it is'),
)

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** Makes SQLite refuse the writes of a table that match a condition. */
const refuse = (app: ForwardingApp, write: string, table: string, condition: string): void =>
  void app.windfall.store
    .prepare(
      `create temp trigger refused_${write} before ${write} on ${table} when ${condition}
       begin select raise(abort, 'refused here'); end`,
    )
    .run()

test('an answer that cannot be stored while the disk is full is stored later, and not asked for again', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend' })).endpoint
  await app.append(1)
  app.windfall.store.pragma('query_only = on')
  // The row of the delivery cannot be made either.
  await app.tickFor(1)
  app.windfall.store.pragma('query_only = off')
  receiver.behave((_, response) => {
    app.windfall.store.pragma('query_only = on')
    response.writeHead(200).end()
    return undefined
  })
  await app.tickFor(31)
  expect(receiver.requests).toHaveLength(1)
  await app.tickFor(150)
  expect(receiver.requests).toHaveLength(1)
  expect(app.windfall.forwarding.findings()).toMatchObject([
    { state: 'fault', text: expect.stringMatching(/^Nothing is sent to backend since/) },
  ])
  app.windfall.store.pragma('query_only = off')
  await app.tickFor(31)
  expect(app.rows(id)).toMatchObject([{ state: 'delivered', attempts: 1 }])
  expect(receiver.requests).toHaveLength(1)
  expect(app.windfall.forwarding.findings()).toEqual([])
})

test('a result that alone cannot be stored is marked, and the other events go on', async () => {
  const logged: string[] = []
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp({ logged })
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  receiver.behave((_, response) => void response.writeHead(200).end('poison'))
  refuse(app, 'insert', 'delivery_attempts', "new.excerpt = 'poison'")
  await app.append(1)
  await app.settled()
  receiver.behave(() => 200)
  await app.append(2)
  await app.settled()
  expect(receiver.requests).toHaveLength(3)
  expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  expect(app.attempts(id)[0]?.words).toMatch(/The result could not be stored: refused here\.$/)
  expect(logged.join('\n')).toContain('could not be stored as it is')
})

test('an endpoint stops with a finding when two results in a row cannot be stored', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { name: 'backend' })).endpoint
  const other = (await app.addEndpoint(`${receiver.url}/other`)).endpoint
  refuse(app, 'update', 'endpoints', `new.id = '${id}' and new.failures > 0`)
  await app.append(3)
  await app.tickFor(40 * 60)
  const asked = receiver.requests.filter(({ path }) => path === '/hooks').length
  expect(asked).toBeLessThanOrEqual(4)
  expect(app.attempts(other.id).length).toBeGreaterThan(6)
  const [finding] = app.windfall.forwarding.findings().filter(({ state }) => state === 'fault')
  expect(finding).toMatchObject({
    text: expect.stringContaining('refused here'),
    details: { id: `webhooks:${id}:error` },
  })
})

test('while no result of any active endpoint can be stored, the server is degraded, also while it tries again', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const [one, other] = [await app.addEndpoint(receiver.url), await app.addEndpoint(`${receiver.url}/other`)]
  const status = async () => ((await (await app.request('/readyz')).json()) as { status: string }).status
  const trigger = (id: string) => `new.id = '${id}' and new.failures > 0`
  refuse(app, 'update', 'endpoints', trigger(one.endpoint.id))
  receiver.behave(({ path }) => (path === '/hooks' ? 500 : 200))
  await app.append(3)
  await app.tickFor(6 * 60)
  expect(await status(), 'the other endpoint works').toBe('ready')

  const { store } = app.windfall
  store.prepare('drop trigger temp.refused_update').run()
  refuse(app, 'update', 'endpoints', 'new.failures > 0')
  receiver.behave(() => 500)
  await app.append(3)
  await app.tickFor(6 * 60)
  expect(await status()).toBe('degraded')
  for (let minute = 0; minute < 130; minute += 1) {
    await app.tickFor(60)
    expect(await status(), `minute ${minute}`).toBe('degraded')
    if (minute % 10 === 0) await app.append(1)
  }
  const held: (() => void)[] = []
  receiver.behave((_, response) => void held.push(() => response.writeHead(500).end()))
  app.clock.turn(HOUR_MS)
  await app.append(1)
  await app.windfall.forwarding.tick()
  await expect.poll(() => held.length).toBeGreaterThan(0)
  await app.windfall.forwarding.tick()
  expect(await status(), 'a delivery was made, and its answer is not there yet').toBe('degraded')
  receiver.behave(() => 500)
  for (const answer of held) answer()
  await app.settled()
  store.prepare('drop trigger temp.refused_update').run()
  receiver.behave(() => 200)
  await app.tickFor(61 * 60)
  expect(app.rows(other.endpoint.id).every(({ state }) => state === 'delivered')).toBe(true)
  expect(await status()).toBe('ready')
  expect(app.windfall.forwarding.findings()).toEqual([])
})

test('an event whose delivery is refused by the database passes without its body, and fails by itself', async () => {
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url)).endpoint
  const ids = await app.append(5)
  const bad = ids[2] as string
  refuse(app, 'insert', 'deliveries', `new.event_id = '${bad}' and new.body is not null`)
  refuse(app, 'update', 'deliveries', `new.event_id = '${bad}' and new.body is not null`)
  await app.run(MINUTE_MS)
  expect(receiver.ids().toSorted()).toEqual(ids.filter((one) => one !== bad).toSorted())
  expect(app.rows(id).filter(({ state }) => state === 'waiting')).toMatchObject([{ event_id: bad }])
  await app.run(100 * HOUR_MS)
  expect(app.rows(id).find(({ event_id }) => event_id === bad)).toMatchObject({
    state: 'failed',
    attempts: 10,
  })
})

test('a body that was made before a stop and never tried is made again after the start', async () => {
  const folder = temporaryFolder().path
  const receiver = await openHttpReceiver()
  const first = await openForwardingApp({ folder })
  const { id } = (await first.addEndpoint(receiver.url)).endpoint
  await first.append(1)
  await first.settled()
  const { store } = first.windfall
  await store.commit(() => {
    store.prepare('delete from delivery_attempts').run()
    store.prepare("update deliveries set state = 'waiting', attempts = 0, next_at = 1, body = x'00'").run()
  })
  await first.close()
  const app = await openForwardingApp({ folder, clock: first.clock })
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state: 'delivered', attempts: 1 }])
  const [before, after] = receiver.requests
  expect(after?.body).toBe(before?.body)
})
