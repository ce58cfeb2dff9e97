import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../receiving.ts'

const DAY_MS = 86_400_000
const [ONE, TWO] = ['a', 'b'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`)

const configOf = (folder: string, endpoints: string) =>
  loadConfig({ env: { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1', WINDFALL_ENDPOINTS: endpoints }, cwd: folder })
    .config

test('a declared endpoint receives events, keeps its place while it is not declared, and cannot be changed elsewhere', async () => {
  const receiver = await openHttpReceiver()
  const folder = temporaryFolder().path
  const app = await openForwardingApp({ folder })
  const { forwarding, store } = app.windfall
  await app.append(1)
  const declared = `[{ name = "backend", url = "${receiver.url}", secrets = ["${ONE}"], headers = { "x-team" = "a" } }]`
  await app.windfall.declare(configOf(folder, declared))
  const ids = await app.append(2)
  await app.settled()
  expect(receiver.ids()).toEqual(ids)
  expect(receiver.requests[0]?.headers).toMatchObject({ 'x-team': 'a' })
  const [endpoint] = forwarding.endpoints.list()
  expect(endpoint).toMatchObject({ name: 'backend', source: 'config.toml', state: 'active', headers: null })
  const { id = '' } = endpoint ?? {}
  await expect(
    store.commit(() => forwarding.endpoints.change(id, { url: receiver.url })),
  ).rejects.toMatchObject({ code: 'declared_in_config' })

  await app.windfall.declare(configOf(folder, '[]'))
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'config_removed' })
  ids.push(...(await app.append(2)))
  await app.settled()
  expect(receiver.ids()).toHaveLength(2)
  await expect(store.commit(() => forwarding.endpoints.resume(id, 'now'))).rejects.toMatchObject({
    code: 'config_removed',
  })

  await app.windfall.declare(configOf(folder, declared.replace(ONE ?? '', `${TWO}", "${ONE}`)))
  await app.settled()
  expect(receiver.ids()).toEqual(ids)
  expect(receiver.requests.at(-1)?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
})

test('a declared endpoint of apps sends events of these apps only', async () => {
  const receiver = await openHttpReceiver()
  const folder = temporaryFolder().path
  const app = await openForwardingApp({ folder })
  const of = (bundle_id: string) =>
    `[{ name = "backend", url = "${receiver.url}", secrets = ["${ONE}"], apps = ["${bundle_id}"] }]`
  await app.windfall.declare(configOf(folder, of('com.example.other')))
  await app.append(1)
  await app.settled()
  expect(receiver.ids()).toEqual([])
  await app.windfall.declare(configOf(folder, of(BUNDLE)))
  const [id] = await app.append(1)
  await app.settled()
  expect(receiver.ids()).toContain(id)
})

test('an endpoint that changes to Apple’s notifications begins with the next one', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const folder = temporaryFolder().path
  const app = await openForwardingApp({ folder })
  const of = (kind: string) =>
    `[{ name = "backend", url = "${receiver.url}", secrets = ["${ONE}"], kind = "${kind}" }]`
  await app.windfall.declare(configOf(folder, of('events')))
  const [id = ''] = await app.append(1)
  await app.settled()
  await app.windfall.declare(configOf(folder, of('apple')))
  expect(app.states()[id]).toBe('skipped')
  expect(app.windfall.forwarding.endpoints.list()[0]).toMatchObject({ kind: 'apple', cursor: 0 })
})

test('what failed before an endpoint changed its kind is not replayed, and holds back nothing', async () => {
  const receiver = await openHttpReceiver(() => 400)
  const folder = temporaryFolder().path
  const app = await openForwardingApp({ folder })
  const of = (kind: string) =>
    `[{ name = "backend", url = "${receiver.url}", secrets = ["${ONE}"], kind = "${kind}" }]`
  await app.windfall.declare(configOf(folder, of('events')))
  await app.append(2)
  await app.run(4 * DAY_MS)
  const { forwarding } = app.windfall
  const { id = '' } = forwarding.endpoints.list()[0] ?? {}
  expect(app.rows(id)).toMatchObject(Array(2).fill({ state: 'failed' }))
  await app.windfall.declare(configOf(folder, of('apple')))
  const one = app.replay(id, { delivery_id: app.rows(id)[0]?.id ?? 0 })
  await expect(one).rejects.toMatchObject({ code: 'unknown_delivery' })
  const replay = await app.replay(id, { failed: true })
  await app.settled()
  expect(forwarding.replays.get(replay.id)).toMatchObject({ state: 'done', made: 0 })
})

test('an endpoint that is no longer declared sends nothing, whatever disabled it before, and can be deleted', async () => {
  const receiver = await openHttpReceiver(() => 410)
  const folder = temporaryFolder().path
  const app = await openForwardingApp({ folder })
  const { forwarding, store } = app.windfall
  const declared = `[{ name = "backend", url = "${receiver.url}", secrets = ["${ONE}"] }]`
  await app.windfall.declare(configOf(folder, declared))
  const { id = '' } = forwarding.endpoints.list()[0] ?? {}
  const deletion = () => store.commit(() => forwarding.endpoints.remove(id))
  await app.append(1)
  await app.run(DAY_MS / 24)
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'gone_410' })
  await expect(deletion()).rejects.toMatchObject({ code: 'declared_in_config' })
  await app.windfall.declare(configOf(folder, '[]'))
  expect(app.endpoint(id)).toMatchObject({ state: 'disabled', reason: 'config_removed' })
  const sent = receiver.requests.length
  const resumed = store.commit(() => forwarding.endpoints.resume(id, 'waiting'))
  await expect(resumed).rejects.toMatchObject({ code: 'config_removed' })
  const tested = forwarding.test.send(app.endpoint(id), 'gap.found')
  await expect(tested).rejects.toMatchObject({ code: 'config_removed' })
  await app.settled()
  expect(receiver.requests).toHaveLength(sent)
  expect(await deletion()).toBe(1)
  expect(forwarding.findings()).toEqual([])
})
