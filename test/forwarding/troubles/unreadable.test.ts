/** An endpoint whose stored settings cannot be read stops only itself, and nothing of it is lost. */
import { expect, test } from 'vitest'
import { openWebhooks } from '../../api/forwarding/requests.ts'
import { openGate, SIDES, type Side } from '../gate.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

/** Two endpoints, of which the stored types of one are cut off. */
async function openBroken(source = 'dashboard') {
  const logged: string[] = []
  const receiver = await openHttpReceiver()
  const app = await openForwardingApp({ logged })
  const broken = (await app.addEndpoint(`${receiver.url}/ord`, { name: 'ord', source })).endpoint.id
  await app.addEndpoint(receiver.url, { name: 'backend' })
  const { store } = app.windfall
  await store.commit(() => store.prepare("update endpoints set types = '{' where name = 'ord'").run())
  const paths = () => receiver.requests.map(({ path }) => path)
  return { app, broken, paths, logged }
}

test('an endpoint that cannot be read is a finding that names it, and the others go on', async () => {
  const { app, broken, paths, logged } = await openBroken()
  await app.append(3)
  await app.tickFor(10)
  expect(paths()).toEqual(['/hooks', '/hooks', '/hooks'])
  expect(app.windfall.forwarding.findings()).toMatchObject([
    {
      state: 'fault',
      text: 'Nothing is sent to ord, because its types cannot be read in the database. Its events wait.',
      details: { id: `webhooks:${broken}:unreadable`, remedy: expect.stringContaining('Set them again') },
    },
  ])
  expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

test('an endpoint that cannot be read keeps its stored text when it is paused, and sends what waited when it is set', async () => {
  const { app, broken, paths } = await openBroken()
  const { store, forwarding } = app.windfall
  await app.append(2)
  await app.settled()
  await store.commit(() => forwarding.endpoints.pause(broken))
  await store.commit(() => forwarding.endpoints.resume(broken, 'waiting'))
  const stored = store.prepare<[], { types: string }>("select types from endpoints where name = 'ord'")
  expect(stored.get()).toEqual({ types: '{' })
  await store.commit(() => forwarding.endpoints.change(broken, { types: ['gap.found'] }))
  await app.settled()
  expect(paths().filter((path) => path === '/hooks/ord')).toHaveLength(2)
  expect(forwarding.findings()).toEqual([])
})

test('what waits for an endpoint that cannot be read is not dropped', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const app = await openForwardingApp()
  const { id } = (await app.addEndpoint(receiver.url, { name: 'ord' })).endpoint
  await app.append(1)
  await app.settled()
  const { store, forwarding } = app.windfall
  await store.commit(() => store.prepare("update endpoints set apps = '[1]'").run())
  await app.tickFor(20)
  expect(receiver.requests).toHaveLength(1)
  expect(app.rows(id)).toMatchObject([{ state: 'waiting' }])
  receiver.behave(() => 200)
  await store.commit(() => forwarding.endpoints.change(id, { apps: null }))
  await app.settled()
  expect(app.rows(id)).toMatchObject([{ state: 'delivered' }])
})

test.each(SIDES)(
  'an endpoint that becomes unreadable %s sends each event once after it is mended',
  async (side: Side) => {
    const logged: string[] = []
    const receiver = await openHttpReceiver()
    const app = await openForwardingApp({ logged })
    const { id } = (await app.addEndpoint(receiver.url, { name: 'ord' })).endpoint
    const { store, forwarding } = app.windfall
    const { commit } = store
    const sent = await app.append(3)
    let isHere = false
    openGate(store, 1, side, async () => {
      isHere = true
      await commit(() => store.prepare("update endpoints set types = '{'").run())
    })
    await app.tickFor(3)
    expect(isHere).toBe(true)
    expect(forwarding.findings()).toMatchObject([{ details: { id: `webhooks:${id}:unreadable` } }])
    await store.commit(() => forwarding.endpoints.change(id, { types: ['gap.found'] }))
    await app.tickFor(3)
    expect(receiver.ids().toSorted()).toEqual(sent.toSorted())
    expect(app.rows(id).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
    expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
)

test('the API lists the other endpoints, says what cannot be read, and a change mends it', async () => {
  const { app, call, create } = await openWebhooks()
  const { id } = await create({ name: 'ord' })
  await create({ name: 'backend' })
  const { store } = app.windfall
  await store.commit(() =>
    store.prepare("update endpoints set types = '{', apps = 'x' where name = 'ord'").run(),
  )
  const { body } = await call('GET', 'endpoints')
  const listed = (body.endpoints as { name: string }[]).toSorted((one, other) =>
    one.name < other.name ? 1 : -1,
  )
  expect(listed).toMatchObject([
    { name: 'ord', types: [], unreadable: ['apps', 'types'] },
    { name: 'backend', types: null, unreadable: [] },
  ])
  const changed = await call('PATCH', `endpoints/${id}`, { types: null, apps: null })
  expect(changed).toMatchObject({ status: 200, body: { types: null, unreadable: [] } })
})
