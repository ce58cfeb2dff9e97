/** The button “Mute for an hour” of ntfy: a real receiver gets the message, and its address is called as a phone calls it. */
import { expect, test } from 'vitest'
import type { TestOptions } from '../../helpers.ts'
import { rowsOf } from '../../helpers.ts'
import { type AlertingApp, openAlertingApp, purchase } from '../alerting.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
const BASE = 'https://windfall.example'
const WEB_APP = { origin: 'https://ntfy.example' }

type Posted = { topic: string; title: string; message: string; actions?: Record<string, unknown>[] }

/** Opens a Windfall with the single channel `ntfy` and a rule about sales. */
async function openWithNtfy(options: TestOptions = {}) {
  const app = await openAlertingApp({ ...options, env: { WINDFALL_BASE_URL: BASE, ...options.env } })
  const server = new URL(app.receiver.url).origin
  const known = app.alerts.channels.list().find(({ name }) => name === 'ntfy')
  const channel = await app.channel('ntfy', {
    kind: 'ntfy',
    settings: { server, topic: 'sales' },
    ...(known && { id: known.id }),
  })
  for (const { id, name } of app.alerts.channels.list())
    if (name === 'phone') await app.windfall.store.commit(() => app.alerts.channels.remove(id))
  if (app.alerts.rules.list().length === 0) await app.rule('sale')
  const posted = (): Posted[] => app.receiver.requests.map(({ body }) => JSON.parse(body))
  return Object.assign(app, { ntfy: channel, posted })
}

type NtfyApp = Awaited<ReturnType<typeof openWithNtfy>>

const pathIn = ({ actions }: Posted): string => String(actions?.[0]?.url).replace(BASE, '')

/** Sends a message about a sale. Returns the path of its button. */
async function buttonOf(app: NtfyApp): Promise<string> {
  await purchase({ app })
  await app.settle(2 * SECOND)
  const last = app.posted().at(-1)
  if (last === undefined) throw new Error('ntfy got no message')
  return pathIn(last)
}

async function press(app: AlertingApp, path: string, init: RequestInit = {}) {
  const answer = await app.request(path, { method: 'POST', ...init })
  const text = await answer.text()
  const { status, headers } = answer
  return { status, headers, body: text === '' ? null : JSON.parse(text) }
}

const mutedUntil = ({ alerts, organization }: AlertingApp): number | null =>
  alerts.settings.get(organization.id).muted_until

const changesIn = ({ windfall }: AlertingApp) =>
  windfall.audit.list(null, 100).filter(({ action }) => action === 'alerts.changed')

test('a message has a button that mutes alerts for an hour by the clock; afterwards one summary comes, with its own button', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  expect(app.posted()[0]?.actions).toEqual([
    { action: 'http', label: 'Mute for an hour', method: 'POST', clear: true, url: `${BASE}${path}` },
  ])
  const until = app.clock() + HOUR
  // The app for Android sends an empty text, and the web app no body at all.
  const pressed = await press(app, path, { body: '', headers: { 'content-type': 'text/plain' } })
  expect([pressed.status, pressed.body]).toEqual([200, { muted_until: until }])
  expect(mutedUntil(app)).toBe(until)
  await purchase({ app })
  await app.settle(2 * SECOND)
  await app.settle(HOUR - 2 * SECOND - 1)
  expect(app.posted()).toHaveLength(1)
  const history = app.alerts.history.list({ organization_id: null, before: null, limit: 10 })
  expect(history).toContainEqual(
    expect.objectContaining({ sends: [expect.objectContaining({ words: 'Alerts are muted.' })] }),
  )
  await app.settle(1)
  expect(app.posted().slice(1)).toMatchObject([
    { message: expect.stringContaining('While alerts were muted') },
  ])
  const next = app.posted().map(pathIn)
  expect(next[1]).not.toBe(next[0])
  expect((await press(app, next[1] ?? '')).body).toEqual({ muted_until: app.clock() + HOUR })
})

test('an address works once: a repetition changes nothing, and after the mute it is refused', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  const until = app.clock() + HOUR
  await press(app, path)
  await app.settle(HOUR / 2)
  expect(await press(app, path)).toMatchObject({ status: 200, body: { muted_until: until } })
  expect(changesIn(app)).toMatchObject([
    { actor: app.ntfy.id, subject: 'ntfy', detail: 'muted_until', address: expect.anything() },
  ])
  await app.settle(HOUR / 2)
  expect(await press(app, path)).toMatchObject({ status: 410, body: { code: 'mute_ended' } })
  expect(mutedUntil(app)).toBe(until)
})

test('an owner who ends the mute is not muted again by the same button', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  await press(app, path)
  await app.windfall.store.commit(() => app.alerts.changeSettings(app.organization.id, { muted_until: null }))
  expect((await press(app, path)).status).toBe(410)
  expect(mutedUntil(app)).toBeNull()
})

test('two presses at once mute once, and so do two messages', async () => {
  const app = await openWithNtfy()
  const [one, other] = [await buttonOf(app), await buttonOf(app)]
  const until = app.clock() + HOUR
  const both = await Promise.all([press(app, one), press(app, one)])
  expect(both.map(({ status, body }) => [status, body.muted_until])).toEqual([
    [200, until],
    [200, until],
  ])
  expect(changesIn(app)).toHaveLength(1)
  app.clock.turn(SECOND)
  expect((await press(app, other)).body.muted_until).toBe(until + SECOND)
})

test('a press that waits for the removal of its channel changes nothing', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  const removal = app.windfall.store.commit(() => app.alerts.channels.remove(app.ntfy.id))
  const pressed = await press(app, path)
  await removal
  expect([pressed.status, mutedUntil(app)]).toEqual([404, null])
})

test('a longer mute is not made shorter', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  const muted_until = app.clock() + 2 * DAY
  await app.windfall.store.commit(() => app.alerts.changeSettings(app.organization.id, { muted_until }))
  expect((await press(app, path)).body).toEqual({ muted_until })
  expect(mutedUntil(app)).toBe(muted_until)
})

test('an address works for a day', async () => {
  const app = await openWithNtfy()
  const [one, other] = [await buttonOf(app), await buttonOf(app)]
  app.clock.turn(DAY - 2 * SECOND)
  expect((await press(app, one)).status).toBe(200)
  app.clock.turn(2 * SECOND + 1)
  expect(await press(app, other)).toMatchObject({ status: 410, body: { code: 'mute_ended' } })
})

test('a changed address, and one of another message, channel or server, is refused and changes nothing', async () => {
  const app = await openWithNtfy()
  const [one, other] = [await buttonOf(app), await buttonOf(app)]
  const stranger = await openWithNtfy()
  const foreign = await buttonOf(stranger)
  const [message = '', channel = '', mac = ''] = one.replace('/api/v1/alerts/mute/', '').split('.')
  const flipped = mac.slice(0, -1) + (mac.endsWith('A') ? 'B' : 'A')
  const names = [
    `${message}.${channel}.${flipped}`,
    `${message}.${channel}.${mac}A`,
    `${message}.${channel}.`,
    `${message}.${channel}`,
    `${message}.${stranger.ntfy.id}.${mac}`,
    `${other.split('/').at(-1)?.split('.')[0]}.${channel}.${mac}`,
    '%2e.%2e.x',
    'x',
  ]
  for (const path of [...names.map((name) => `/api/v1/alerts/mute/${name}`), foreign])
    expect(await press(app, path), path).toMatchObject({ status: 404, body: { code: 'unknown_mute' } })
  expect([mutedUntil(app), changesIn(app)]).toEqual([null, []])
})

test('before the first message there is no key, and nothing is accepted', async () => {
  const app = await openWithNtfy()
  expect((await press(app, '/api/v1/alerts/mute/alm_1.alc_1.AAAA')).status).toBe(404)
})

test('reading the address, as previews of links and scanners do, changes nothing', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  const rows = () => ['settings', 'alert_memory', 'audit_log'].map((name) => rowsOf(app.windfall.store, name))
  const before = rows()
  const read = await app.request(path)
  expect([read.status, read.headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
  expect(await read.json()).toMatchObject({ detail: 'This path supports only OPTIONS, POST.' })
  expect((await app.request(path, { method: 'HEAD' })).status).toBe(405)
  expect(rows()).toEqual(before)
  expect((await press(app, path)).status).toBe(200)
})

test('an address works after a restart, and is used up after another one', async () => {
  const app = await openWithNtfy()
  const [one, other] = [await buttonOf(app), await buttonOf(app)]
  await press(app, one)
  await app.windfall.close()
  const again = await openWithNtfy({ folder: app.folder, clock: app.clock })
  again.clock.turn(HOUR)
  expect((await press(again, one)).status).toBe(410)
  expect((await press(again, other)).body.muted_until).toBe(again.clock() + HOUR)
})

test('a phone can be faster than the result of the provider', async () => {
  const app = await openWithNtfy()
  const during: number[] = []
  app.receiver.behave(({ body }, response) => {
    void press(app, pathIn(JSON.parse(body))).then(({ status }) => {
      during.push(status)
      response.end('{}')
    })
    return undefined
  })
  await buttonOf(app)
  expect(during).toEqual([200])
})

test('what a mute held is sent after quiet hours if the mute ends during them', async () => {
  const app = await openWithNtfy({
    env: { WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "UTC" }]' },
  })
  const at = (time: string): number => Date.parse(`2026-06-01T${time}Z`)
  await app.windfall.store.commit(() =>
    app.alerts.changeSettings(app.organization.id, { quiet: { from: '22:00', until: '08:00' } }),
  )
  app.clock.set(at('21:30:00'))
  await press(app, await buttonOf(app))
  await purchase({ app })
  await app.settle(2 * SECOND)
  app.clock.set(at('22:10:00'))
  await purchase({ app })
  await app.settle(2 * SECOND)
  app.clock.set(at('22:45:00'))
  await app.settle()
  app.clock.set(at('23:00:00'))
  await purchase({ app })
  await app.settle(2 * SECOND)
  expect(app.posted()).toHaveLength(1)
  app.clock.set(at('08:00:00') + DAY)
  await app.settle()
  const late = app.posted().slice(1)
  const count = late.reduce((sum, { title }) => sum + Number(/📬 (\d+)/u.exec(title)?.[1] ?? 1), 0)
  expect([count, late.length]).toEqual([3, 2])
})

test('without an address that a phone reaches there is no button, nor on a test, nor for another kind of channel', async () => {
  for (const WINDFALL_BASE_URL of ['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787']) {
    const local = await openWithNtfy({ env: { WINDFALL_BASE_URL } })
    await buttonOf(local)
    expect(local.posted()[0]).not.toHaveProperty('actions')
  }
  const app = await openWithNtfy()
  await app.channel('home')
  await buttonOf(app)
  const [json] = app.got('home')
  expect(JSON.stringify(json)).not.toContain('/api/v1/alerts/mute/')
  await app.alerts.test(app.ntfy)
  expect(app.posted().at(-1)).not.toHaveProperty('actions')
})

test('the web app of ntfy may call the address from its page, and no other route is opened', async () => {
  const app = await openWithNtfy()
  const path = await buttonOf(app)
  const asked = { ...WEB_APP, 'access-control-request-method': 'POST' }
  const preflight = await app.request(path, { method: 'OPTIONS', headers: asked })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-methods')).toBe('OPTIONS, POST')
  const [pressed, unknown] = [path, `${path}A`].map((each) => press(app, each, { headers: WEB_APP }))
  for (const [answer, status] of [[await pressed, 200] as const, [await unknown, 404] as const]) {
    expect(answer?.status).toBe(status)
    expect(answer?.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer?.headers.get('access-control-allow-credentials')).toBeNull()
  }
  const settings = await app.request('/api/v1/alerts/settings', { method: 'OPTIONS', headers: asked })
  expect([settings.status, settings.headers.get('access-control-allow-origin')]).toEqual([405, null])
})

test('an address of the internet may try 30 times a minute, and the log does not contain what was tried', async () => {
  const logged: string[] = []
  const app = await openWithNtfy({ logged })
  const path = await buttonOf(app)
  for (let index = 0; index < 30; index += 1) await press(app, `${path}x`)
  const refused = await press(app, path, { headers: WEB_APP })
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(refused.headers.get('access-control-expose-headers')).toContain('retry-after')
  app.clock.turn(60 * SECOND)
  expect((await press(app, path)).status).toBe(200)
  await expect.poll(() => logged.join('')).toContain('/api/v1/alerts/mute/:address')
  expect(logged.join('')).not.toContain(path)
})
