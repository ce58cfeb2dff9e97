/** Channels and rules that config.toml declares, and the heartbeat. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../folders.ts'
import { openHttpReceiver } from '../forwarding/receiving.ts'
import { openAlertingApp, purchase } from './alerting.ts'

const channel = (url: string) =>
  `{ name = "home", kind = "json", settings = { url = "${url}" }, secrets = { token = "a-secret" } }`

async function openDeclared(rules: string) {
  const app = await openAlertingApp()
  const env = {
    WINDFALL_OUTBOUND_ALLOW: '127.0.0.1',
    WINDFALL_ALERT_CHANNELS: `[${channel(`${app.receiver.url}/home`)}]`,
    WINDFALL_ALERT_RULES: rules,
  }
  const { config } = loadConfig({ env, cwd: app.folder })
  return { app, config }
}

test('a declared channel sends with its secret, which is not stored, and a removed one sends nothing', async () => {
  const { app, config } = await openDeclared(
    '[{ name = "sales", template = "sale", channels = ["home"], settings = { per_hour = 5 } }]',
  )
  await app.windfall.declare(config)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got('home')).toHaveLength(1)
  expect(app.receiver.requests[0]?.headers.authorization).toBe('Bearer a-secret')
  const row = app.windfall.store
    .prepare<[], object>("select sealed, source, settings from alert_channels where name = 'home'")
    .get()
  expect(row).toMatchObject({ sealed: null, source: 'config.toml' })
  expect(JSON.stringify(row)).not.toContain('a-secret')
  // With declared rules there are no default ones.
  expect(app.alerts.rules.list().map(({ name, source }) => [name, source])).toEqual([
    ['sales', 'config.toml'],
  ])

  await app.windfall.declare({ ...config, alert_channels: [], alert_rules: [] })
  expect(app.alerts.channels.list().map(({ name }) => name)).toEqual(['phone'])
  expect(app.alerts.rules.list()).toEqual([])
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got('home')).toHaveLength(1)
})

test('a declared channel without rules brings the default ones; declaring it again keeps its id and its rules', async () => {
  const { app, config } = await openDeclared('[]')
  await app.windfall.declare(config)
  const before = app.alerts.rules.list()
  expect(before).toHaveLength(8)
  const [, home] = app.alerts.channels.list()
  await app.windfall.declare(config)
  expect(app.alerts.rules.list()).toEqual(before)
  expect(app.alerts.channels.list()[1]).toEqual(home)
})

test('a declared channel whose provider refused it is tried again with another secret', async () => {
  const { app, config } = await openDeclared('[{ name = "sales", template = "sale" }]')
  await app.windfall.declare(config)
  const state = () => app.alerts.channels.list().find(({ name }) => name === 'home')?.state
  app.receiver.behave(({ path }) => (path.endsWith('home') ? 401 : 200))
  await purchase({ app })
  await app.settle(2_000)
  expect(state()).toBe('dead')
  await app.windfall.declare(config)
  expect(state()).toBe('dead')
  const [home] = config.alert_channels
  if (!home) throw new Error('no channel is declared')
  await app.windfall.declare({
    ...config,
    alert_channels: [{ ...home, secrets: { token: 'another-secret' } }],
  })
  app.receiver.behave(() => 200)
  await purchase({ app })
  await app.settle(2_000)
  expect([state(), app.got('home').length]).toEqual(['active', 2])
})

test('a rule that was not followed begins with the next event', async () => {
  const { app, config } = await openDeclared('[{ name = "sales", template = "sale", on = false }]')
  await app.windfall.declare(config)
  await purchase({ app })
  await app.settle(2_000)
  const [rule] = config.alert_rules
  if (!rule) throw new Error('no rule is declared')
  await app.windfall.declare({ ...config, alert_rules: [{ ...rule, on: true }] })
  await app.settle(2_000)
  expect(app.got('home')).toEqual([])
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got('home')).toHaveLength(1)
})

test('the heartbeat is sent while the database works, and three failures are a finding without the URL', async () => {
  const statuses = [200, 500, 500, 500, 200]
  const receiver = await openHttpReceiver(() => statuses.shift() ?? 200)
  const { app, config } = await openDeclared('[]')
  const url = `${receiver.url}/secret-path`
  await app.windfall.declare({ ...config, alerts: { ...config.alerts, heartbeat_url: url } })
  const titles = () => app.alerts.findings().map(({ details }) => details?.title)
  for (const _ of [1, 2, 3]) await app.alerts.beat()
  expect(receiver.requests).toHaveLength(3)
  expect(titles()).toEqual([])
  await app.alerts.beat()
  expect(titles()).toEqual(['The heartbeat is not received'])
  expect(JSON.stringify(app.alerts.findings())).toContain('answered 500')
  expect(JSON.stringify(app.alerts.findings())).not.toContain('secret-path')
  await app.alerts.beat()
  expect(titles()).toEqual([])
  await app.windfall.declare({ ...config, alerts: { ...config.alerts, heartbeat_url: null } })
  await app.alerts.beat()
  expect(receiver.requests).toHaveLength(5)
  expect(receiver.requests.map(({ body }) => body)).toEqual(Array(5).fill(''))
})

test('a restart keeps the failures of the heartbeat, and another URL does not', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const { path: folder } = temporaryFolder()
  const started = (path: string) =>
    openAlertingApp({ folder, env: { WINDFALL_ALERTS_HEARTBEAT_URL: `${receiver.url}/${path}` } })
  const first = await started('one')
  for (const _ of [1, 2, 3]) await first.alerts.beat()
  const failing = first.alerts.findings()
  expect(failing).toHaveLength(1)
  await first.close()
  const second = await started('one')
  expect(second.alerts.findings()).toEqual(failing)
  await second.close()
  expect((await started('two')).alerts.findings()).toEqual([])
})

test('a stop while the heartbeat is sent is not an error', async () => {
  const logged: string[] = []
  const app = await openAlertingApp({ logged })
  const receiver = await openHttpReceiver(() => undefined)
  await app.windfall.declare({ ...app.config, alerts: { ...app.config.alerts, heartbeat_url: receiver.url } })
  const beating = app.alerts.beat()
  await expect.poll(() => receiver.requests.length).toBe(1)
  await app.windfall.close()
  await beating
  expect(logged.join('')).not.toMatch(/"level":"error"|the heartbeat was not received/)
})
