import { expect, test } from 'vitest'
import { openAlertingApp, purchase } from './alerting.ts'

const HOUR = 3_600_000

async function openOwned() {
  const app = await openAlertingApp()
  const headers = { ...(await app.signIn()), 'content-type': 'application/json' }
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await app.request(`/api/v1/alerts/${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  await app.windfall.store.commit(() => app.alerts.channels.remove(app.alerts.channels.list()[0]?.id ?? ''))
  return Object.assign(app, { call })
}

test('the first channel brings the default rules, which send the next sale to it', async () => {
  const app = await openOwned()
  expect((await app.call('GET', 'channels')).body).toEqual({ channels: [] })
  expect((await app.call('GET', 'rules')).body.rules).toEqual([])
  await purchase({ app })
  const added = await app.call('POST', 'channels', {
    name: 'home',
    kind: 'json',
    settings: { url: `${app.receiver.url}/home` },
    secrets: { token: 'a-secret' },
  })
  expect(added).toMatchObject({
    status: 201,
    body: { name: 'home', state: 'active', address: `${app.receiver.url}/home` },
  })
  expect(JSON.stringify(await app.call('GET', 'channels'))).not.toContain('a-secret')
  const { rules, templates } = (await app.call('GET', 'rules')).body
  expect(rules.map(({ name }: { name: string }) => name)).toEqual([
    'Every sale',
    'Trials',
    'Refunds',
    'First sale in a country',
    'MRR milestone',
    'Record day',
    'Refund spike',
    'Something needs me',
  ])
  expect(templates).toHaveLength(13)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got('home')).toHaveLength(1)
  expect(app.receiver.requests[0]?.headers.authorization).toBe('Bearer a-secret')
  const [message] = (await app.call('GET', 'messages')).body.messages
  expect(message).toMatchObject({
    kind: 'sale',
    title: '🔁 $4.99 · Renewal',
    sends: [{ state: 'sent', attempts: 1 }],
  })
})

test('a test message shows the reason of the provider', async () => {
  const app = await openOwned()
  const { body } = await app.call('POST', 'channels', {
    name: 'home',
    kind: 'json',
    settings: { url: `${app.receiver.url}/home` },
  })
  expect((await app.call('POST', `channels/${body.id}/test`)).body).toEqual({ result: 'sent', words: null })
  app.receiver.behave(() => 400)
  expect((await app.call('POST', `channels/${body.id}/test`)).body).toMatchObject({ result: 'refused' })
  expect((await app.call('DELETE', `channels/${body.id}`)).status).toBe(204)
  expect((await app.call('POST', `channels/${body.id}/test`)).body.code).toBe('unknown_channel')
})

test('rules are added, previewed, changed and removed', async () => {
  const app = await openOwned()
  await purchase({ app, transaction: { storefront: 'JPN', price: 1_200_000, currency: 'JPY' } })
  await purchase({ app })
  const preview = await app.call('POST', 'rules/preview', {
    template: 'sale',
    settings: { countries: ['JPN'] },
  })
  expect(preview.body.preview).toMatchObject({ count: 1, messages: [{ title: '🔁 ¥1,200 · Renewal' }] })
  expect((await app.call('POST', 'rules/preview', { template: 'milestone' })).body).toEqual({ preview: null })
  const { status, body } = await app.call('POST', 'rules', {
    name: 'Japan',
    template: 'sale',
    settings: { countries: ['JPN'] },
  })
  expect([status, body.settings.countries, body.settings.per_hour]).toEqual([201, ['JPN'], 10])
  const changed = await app.call('PATCH', `rules/${body.id}`, { is_on: false, settings: { per_hour: 3 } })
  expect(changed.body).toMatchObject({ is_on: false, settings: { per_hour: 3, countries: ['JPN'] } })
  expect((await app.call('POST', 'rules', { name: 'Japan', template: 'trial' })).body.code).toBe('name_taken')
  expect((await app.call('DELETE', `rules/${body.id}`)).status).toBe(204)
  expect((await app.call('PATCH', `rules/${body.id}`, {})).body.code).toBe('unknown_rule')
})

const WITH_TOKEN = { url: 'https://a.example', template: '{"key": "{{token}}"}' }

test('a change that leaves a template without its token is refused', async () => {
  const app = await openOwned()
  const plain = { name: 'x', kind: 'json', settings: { url: 'https://a.example' } }
  const { body: channel } = await app.call('POST', 'channels', plain)
  const change = async (changes: object) => {
    const { status, body } = await app.call('PATCH', `channels/${channel.id}`, changes)
    return [status, body.errors?.[0]?.path ?? null]
  }
  expect(await change({ settings: WITH_TOKEN })).toEqual([400, 'secrets.token'])
  expect(await change({ settings: WITH_TOKEN, secrets: { token: 'a-secret' } })).toEqual([200, null])
  expect(await change({ settings: WITH_TOKEN })).toEqual([200, null])
  expect(await change({ secrets: {} })).toEqual([400, 'secrets.token'])
  expect(await change({ settings: plain.settings, secrets: {} })).toEqual([200, null])
})

test('wrong settings are refused with their path, and nothing is written', async () => {
  const app = await openOwned()
  for (const [path, body, fault] of [
    ['channels', { name: 'x', kind: 'json', settings: { url: 'no' } }, 'settings.url'],
    ['channels', { name: 'x', kind: 'json', settings: { url: 'ftp://a.example' } }, 'settings.url'],
    [
      'channels',
      { name: 'x', kind: 'gotify', settings: { server: 'ftp://a.example' }, secrets: { token: 'A1' } },
      'settings.server',
    ],
    [
      'channels',
      { name: 'x', kind: 'json', settings: { url: 'https://a.example', template: '{"a": "{{title"}' } },
      'settings.template',
    ],
    ['channels', { name: 'x', kind: 'json', settings: WITH_TOKEN }, 'secrets.token'],
    ['channels', { name: 'x', kind: 'fax', settings: {} }, 'kind'],
    [
      'channels',
      { name: 'x', kind: 'json', settings: { url: 'https://a.example', other: 1 } },
      'settings.other',
    ],
    [
      'rules',
      { name: 'x', template: 'sale', settings: { quiet: { from: '25:00', until: '08:00' } } },
      'settings.quiet.from',
    ],
    ['rules', { name: 'x', template: 'sale', settings: { types: ['nothing'] } }, 'settings.types.0'],
    ['rules', { name: 'x', template: 'sale', settings: { countries: ['us'] } }, 'settings.countries'],
  ] as const) {
    const refused = await app.call('POST', path, body)
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, fault])
  }
  const unknown = await app.call('POST', 'rules', { name: 'x', template: 'sale', channels: ['alc_none'] })
  expect(unknown.body.code).toBe('unknown_channel')
  expect([app.alerts.rules.list(), app.alerts.channels.list()]).toEqual([[], []])
})

test('quiet hours and the mute are changed, and a mute that is over is none', async () => {
  const app = await openOwned()
  const muted_until = app.clock() + HOUR
  const changed = await app.call('PATCH', 'settings', {
    muted_until,
    quiet: { from: '23:00', until: '07:00' },
  })
  expect(changed.body).toMatchObject({
    muted_until,
    quiet: { from: '23:00', until: '07:00' },
    time_zone: 'UTC',
  })
  const settings = async () => (await app.call('GET', 'settings')).body.organizations[0]
  app.clock.turn(HOUR)
  expect(await settings()).toMatchObject({ muted_until: null, quiet_until: null })
  app.clock.turn(11 * HOUR)
  expect(await settings()).toMatchObject({ quiet_until: Date.UTC(2026, 5, 2, 7) })
})

test('a test that is accepted wakes a channel that did not work, and a refused one says why', async () => {
  const app = await openOwned()
  const channel = await app.channel('home')
  const state = () => app.alerts.channels.get(channel.id)
  app.receiver.behave(() => 410)
  expect(await app.call('POST', `channels/${channel.id}/test`)).toMatchObject({ body: { result: 'dead' } })
  expect(state()).toMatchObject({ state: 'dead', reason: expect.stringContaining('410') })
  app.receiver.behave(() => 200)
  expect(await app.call('POST', `channels/${channel.id}/test`)).toMatchObject({ body: { result: 'sent' } })
  expect(state()).toMatchObject({ state: 'active', reason: null, last_sent_at: app.clock() })
  await app.call('PATCH', `channels/${channel.id}`, { state: 'disabled' })
  await app.call('POST', `channels/${channel.id}/test`)
  expect(state()).toMatchObject({ state: 'disabled' })
})

test('a new channel is tested if the request says so, and is added also if its provider refuses it', async () => {
  const app = await openOwned()
  const add = (name: string, fields: object = {}) =>
    app.call('POST', 'channels', {
      name,
      kind: 'json',
      settings: { url: `${app.receiver.url}/${name}` },
      ...fields,
    })
  expect(await add('quiet')).toMatchObject({ status: 201, body: { state: 'active', test: null } })
  expect(app.got('quiet')).toEqual([])
  expect(await add('tested', { test: true })).toMatchObject({
    status: 201,
    body: { state: 'active', last_sent_at: app.clock(), test: { result: 'sent', words: null } },
  })
  expect(app.got('tested')).toMatchObject([{ title: '🔔 Windfall can reach you', is_payment: false }])
  app.receiver.behave(() => 410)
  expect(await add('gone', { test: true })).toMatchObject({
    status: 201,
    body: { state: 'dead', test: { result: 'dead', words: expect.stringContaining('410') } },
  })
  expect(app.alerts.channels.list().map(({ name }) => name)).toEqual(['quiet', 'tested', 'gone'])
})

test('a change of a channel that is turned off does not turn it on', async () => {
  const app = await openOwned()
  const channel = await app.channel('home', { state: 'disabled' })
  const changed = await app.call('PATCH', `channels/${channel.id}`, { hides_amounts: true })
  expect(changed.body).toMatchObject({ hides_amounts: true, state: 'disabled' })
  await app.windfall.store.commit(() => app.alerts.channels.setState(channel, 'dead', 'gone'))
  const tried = await app.call('PATCH', `channels/${channel.id}`, { name: 'flat' })
  expect(tried.body).toMatchObject({ name: 'flat', state: 'active' })
})

test('a rule whose channel or app was removed can be changed', async () => {
  const app = await openOwned()
  const channel = await app.channel('home')
  const { body } = await app.call('POST', 'rules', { name: 'x', template: 'sale', channels: [channel.id] })
  await app.call('DELETE', `channels/${channel.id}`)
  expect((await app.call('PATCH', `rules/${body.id}`, { is_on: false })).body).toMatchObject({ is_on: false })
  const unknown = await app.call('PATCH', `rules/${body.id}`, { channels: [channel.id, 'alc_none'] })
  expect(unknown.body.code).toBe('unknown_channel')
})
