/** Widgets and badges through the front door: figures, narrowing, tokens, headers and limits. */
import { expect, test } from 'vitest'
import { WIDGET_METRICS } from '../../../src/alerts/widgets/figures.ts'
import { widgetSvg } from '../../../src/alerts/widgets/svg.ts'
import { changeOf } from '../../../src/alerts/widgets/texts.ts'
import { APPLE_ID, BUNDLE } from '../../apple/samples.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { purchase } from '../alerting.ts'

const DAY = 86_400_000

async function openOwned(env: Record<string, string> = {}) {
  const logged: string[] = []
  const app = await openTestApp({
    env,
    logged,
    clock: handClock(Date.UTC(2026, 5, 1, 12)),
    apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: 'com.example.chord' }],
  })
  for (const price of [4_990, 9_990]) await purchase({ app, transaction: { price } })
  app.clock.turn(DAY)
  await purchase({ app, transaction: { price: 1_234_560_000 } })
  await app.windfall.metrics.whenCurrent()
  const owner = await app.signIn()

  async function make(body: object = {}) {
    const made = await app.post('/api/v1/widgets', { kind: 'widget', label: 'Phone', ...body }, owner)
    const { token, widget } = made.body as unknown as { token: string; widget: { id: string } }
    return { ...made, token, id: widget?.id }
  }
  const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers })
  const read = async (token: string, query = '') => {
    const answer = await get(`/widget/v1.json${query}`, { authorization: `Bearer ${token}` })
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as Record<string, unknown>,
    }
  }
  /** The text of the log. */
  const log = () => logged.join('')
  return Object.assign(app, { owner, make, get, read, log })
}

test('each figure equals that of the metrics API, in units of the currency', async () => {
  const app = await openOwned()
  const { token } = await app.make({ metrics: WIDGET_METRICS.map(({ name }) => name) })
  const { body } = await app.read(token)
  const metric = async (name: string, query: string) => {
    const answer = await app.get(`/api/v1/metrics/${name}?from=2026-06-01&to=2026-06-02${query}`, app.owner)
    const { series } = (await answer.json()) as { series: { points: { milli?: number; count?: number }[] }[] }
    return series[0]?.points.map(({ milli, count }) => (milli === undefined ? count : milli / 1_000)) ?? []
  }
  const [yesterday, today] = await metric('revenue', '')
  expect([today, yesterday]).toEqual([1_234_560, 14.98])
  expect(body).toMatchObject({
    revenue_today: today,
    revenue_today_text: '$1,234,560.00',
    revenue_today_short: '$1.2M',
    revenue_today_change: null,
    revenue_today_change_text: '',
    revenue_yesterday: yesterday,
    revenue_30d: Number(today) + Number(yesterday),
    mrr: (await metric('mrr', ''))[1],
    active_subscriptions: (await metric('active_subscriptions', ''))[1],
    active_trials: 0,
    new_trials_today: 0,
    currency: 'USD',
    updated_at: '2026-06-02T12:00:00.000Z',
    updated_at_text: '12:00',
    stale: false,
  })
  expect(body.revenue_today_spark).toHaveLength(30)
  expect((body.revenue_today_spark as number[]).slice(-2)).toEqual([yesterday, today])
})

test('every form has its type and headers; the token works in the header and in the path', async () => {
  const app = await openOwned()
  const { token } = await app.make()
  for (const [format, type] of [
    ['json', 'application/json'],
    ['txt', 'text/plain'],
    ['svg', 'image/svg+xml'],
    ['js', 'text/plain'],
  ])
    for (const [path, headers] of [
      [`/widget/v1.${format}`, { authorization: `Bearer ${token}` }],
      [`/widget/v1/${token}.${format}`, {}],
    ] as const) {
      const answer = await app.get(path, headers)
      expect([path.slice(0, 12), answer.status]).toEqual([path.slice(0, 12), 200])
      expect(answer.headers.get('content-type')).toContain(type)
      expect(answer.headers.get('cache-control')).toBe('private, max-age=60')
      expect(answer.headers.get('vary')).toBe('authorization')
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
      expect(answer.headers.get('x-robots-tag')).toBe('noindex')
    }
  const text = await (await app.get(`/widget/v1/${token}.txt?metrics=revenue_today`)).text()
  expect(text).toBe('$1,234,560.00\n')
  expect(await (await app.get(`/widget/v1/${token}.txt`)).text()).toMatch(
    /^Revenue today: \$1,234,560\.00\nMRR: /,
  )
})

test('a query narrows and never widens', async () => {
  const app = await openOwned()
  const appOf = (bundle_id: string) => app.windfall.apps.list().find((one) => one.bundle_id === bundle_id)
  const [lantern, chord] = [appOf(BUNDLE), appOf('com.example.chord')]
  const { token } = await app.make({ metrics: ['mrr', 'revenue_yesterday'], apps: [lantern?.id] })
  expect((await app.read(token, '?metrics=mrr')).body.metrics).toEqual(['mrr'])
  expect(await app.read(token, '?metrics=active_trials')).toMatchObject({
    status: 404,
    body: { code: 'unknown_metric' },
  })
  expect((await app.read(token, '?apps=com.example.lantern')).body.revenue_yesterday).toBe(14.98)
  for (const other of [chord?.id, 'com.example.chord', 'app_unknown'])
    expect(await app.read(token, `?apps=${other}`)).toMatchObject({
      status: 404,
      body: { code: 'unknown_app' },
    })
  const { token: ofChord } = await app.make({ apps: [chord?.id], metrics: ['revenue_yesterday'] })
  // Nothing was heard of this app.
  expect((await app.read(ofChord)).body.revenue_yesterday).toBeNull()
})

test('a token is stored as a hash, never logged, and refused at once when it is removed', async () => {
  const app = await openOwned()
  const { token, id } = await app.make()
  expect(token).toMatch(/^wd_[0-9a-f]{48}$/)
  await app.get(`/widget/v1/${token}.json`)
  await app.get(`/badge/v1/${token}.svg`)
  expect(app.log()).not.toContain(token.slice(0, 20))
  const rows = app.windfall.store.prepare('select * from widget_tokens').all()
  expect(JSON.stringify(rows)).not.toContain(token)
  const listed = await (await app.get('/api/v1/widgets', app.owner)).json()
  expect(JSON.stringify(listed)).not.toContain(token)
  expect(listed).toMatchObject({ widgets: [{ id, used_at: expect.any(Number), token: null }] })
  await app.request(`/api/v1/widgets/${id}`, { method: 'DELETE', headers: app.owner })
  expect((await app.read(token)).status).toBe(404)
  expect((await app.get(`/api/v1/widgets/${id}/figures`, app.owner)).status).toBe(404)
})

test('an unknown token is 404, and 429 after thirty in a minute; other tokens are no widgets', async () => {
  const app = await openOwned()
  const { token } = await app.make()
  const badge = await app.make({ kind: 'badge', metrics: ['mrr'] })
  const unknown = [
    '/widget/v1.json',
    '/widget/v1/wd_00.json',
    `/widget/v1/${token}.png`,
    `/widget/v1/${badge.token}.json`,
    `/badge/v1/${token}.svg`,
  ]
  for (const path of unknown) expect([path, (await app.get(path)).status]).toEqual([path, 404])
  for (let call = unknown.length; call < 30; call += 1) await app.get('/widget/v1/wd_00.json')
  expect((await app.get('/widget/v1/wd_00.json')).status).toBe(429)
  expect((await app.read(token)).status).toBe(200)
  expect((await app.get('/api/v1/overview', { authorization: `Bearer ${token}` })).status).toBe(401)
})

test('is headed by the only app or the organization, and never by the name that nobody gave', async () => {
  const app = await openOwned()
  const headingOf = async (apps: string[] | null) =>
    (await app.read((await app.make({ apps })).token)).body.name
  const { windfall, organization } = app
  expect(organization.name).toBe('Default')
  expect(await headingOf(null)).toBe('Windfall')
  const lantern = windfall.apps.list().find(({ bundle_id }) => bundle_id === BUNDLE)
  expect(await headingOf([lantern?.id ?? ''])).toBe(BUNDLE)
  await windfall.store.commit(() => windfall.organizations.declare([{ ...organization, name: 'Acme' }]))
  expect(await headingOf(null)).toBe('Acme')
})

test('a badge can be embedded in pages of other sites and be read by them; a widget’s picture can be embedded', async () => {
  const app = await openOwned()
  const badge = await app.make({ kind: 'badge', metrics: ['mrr'] })
  const { token } = await app.make()
  const shown = await app.get(`/badge/v1/${badge.token}.svg`)
  expect(shown.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  expect(shown.headers.get('access-control-allow-origin')).toBe('*')
  const origin = { origin: 'https://example.org' }
  const read = await app.get(`/badge/v1/${badge.token}.svg`, origin)
  expect(read.headers.get('access-control-allow-origin')).toBe('*')
  const asked = await app.request(`/badge/v1/${badge.token}.svg`, { method: 'OPTIONS', headers: origin })
  expect([asked.status, asked.headers.get('access-control-allow-methods')]).toEqual([
    204,
    'OPTIONS, GET, HEAD',
  ])
  expect(app.log()).not.toContain(badge.token)
  const policyOf = async (path: string) =>
    (await app.get(path, origin)).headers.get('cross-origin-resource-policy')
  expect(await policyOf(`/widget/v1/${token}.svg`)).toBe('cross-origin')
  // What has figures to read stays closed to other sites.
  for (const format of ['json', 'txt', 'js']) {
    const answer = await app.get(`/widget/v1/${token}.${format}`, origin)
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(answer.headers.get('access-control-allow-origin')).toBe(null)
  }
})

test('a picture that has not changed is answered with 304, also for a proxy that made its tag weak', async () => {
  const app = await openOwned()
  const badge = await app.make({ kind: 'badge', metrics: ['revenue_today'] })
  const path = `/badge/v1/${badge.token}.svg`
  const etag = (await app.get(path)).headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await app.get(path, { 'if-none-match': known })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    expect(again.headers.get('cache-control')).toBe('public, max-age=60')
  }
  await purchase({ app, transaction: { price: 5_000_000_000 } })
  await app.windfall.metrics.whenCurrent()
  const changed = await app.get(path, { 'if-none-match': etag })
  expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false])
  const { token } = await app.make()
  expect((await app.get(`/widget/v1/${token}.json`)).headers.get('etag')).toBe(null)
})

test('a badge is public, has one figure and escapes its texts', async () => {
  const app = await openOwned()
  const badge = await app.make({ kind: 'badge', label: 'README', metrics: ['revenue_yesterday'] })
  const answer = await app.get(`/badge/v1/${badge.token}.svg`)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=60')
  expect(await answer.text()).toContain('aria-label="Revenue yesterday: $15"')
  expect(await app.make({ kind: 'badge', metrics: ['mrr', 'active_trials'] })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('a badge has one figure') },
  })
  const { windfall, organization } = app
  await windfall.store.commit(() =>
    windfall.organizations.declare([{ ...organization, name: '<Müller> & "Sons" with a very long name' }]),
  )
  const { token } = await app.make()
  const svg = await (await app.get(`/widget/v1/${token}.svg`)).text()
  expect(svg).toContain('&lt;Müller&gt; &amp; &quot;Sons&quot;')
  expect(svg).not.toContain('<Müller>')
  expect(svg).toContain('prefers-color-scheme:dark')
})

test('refuses figures that do not exist, apps of others and more than one hundred widgets', async () => {
  const app = await openOwned()
  expect(await app.make({ metrics: ['profit'] })).toMatchObject({ status: 400 })
  expect(await app.make({ metrics: [] })).toMatchObject({ status: 400 })
  expect(await app.make({ apps: ['app_unknown'] })).toMatchObject({ status: 404 })
  await app.windfall.store.commit(() => {
    const { tokens } = app.windfall.alerts.widgets
    for (let number = 0; number < 100; number += 1)
      tokens.create({
        organization_id: app.organization.id,
        kind: 'widget',
        label: 'x',
        metrics: ['mrr'],
        apps: null,
      })
  })
  expect(await app.make()).toMatchObject({ status: 409, body: { code: 'too_many_widgets' } })
})

test('until the figures of a new currency are computed, a widget names that of its figures', async () => {
  const app = await openOwned()
  const { token } = await app.make({ metrics: ['revenue_today'] })
  const { organizations, store } = app.windfall
  await store.commit(() => organizations.declare([{ ...app.organization, currency: 'EUR' }]))
  const { body } = await app.read(token)
  expect(body).toMatchObject({ currency: 'USD', revenue_today_text: '$1,234,560.00', stale: true })
})

test('a change is shown only against something above zero, which refunds can undercut', () => {
  const shared = { name: 'revenue_30d', title: '', is_money: true, spark: [] } as const
  const changes = [-1_000, 0, 1_000].map((before) => changeOf({ ...shared, value: 2_000, before }))
  expect(changes).toEqual([null, null, 1])
})

test('a long name is cut, a Japanese one earlier because its characters are wide', () => {
  const nameIn = (name: string): string =>
    />([^<]*)<\/text>/.exec(
      widgetSvg({ name, currency: 'JPY', time_zone: 'UTC', updated_at: 0, is_stale: false, figures: [] }),
    )?.[1] ?? ''
  expect(nameIn('Lantern')).toBe('Lantern')
  expect(nameIn('a'.repeat(35))).toBe(`${'a'.repeat(33)}…`)
  expect(nameIn('東'.repeat(18))).toBe(`${'東'.repeat(16)}…`)
})

test('a name with control characters, which XML forbids, does not break the picture', async () => {
  const app = await openOwned()
  const { token } = await app.make()
  const name = 'Lantern \u0001\u0000<b>'
  await app.windfall.store.commit(() => app.windfall.organizations.declare([{ ...app.organization, name }]))
  const svg = await (await app.get(`/widget/v1/${token}.svg`)).text()
  expect(svg).toMatch(/>Lantern +&lt;b&gt;</)
})

test('an app that a query names twice counts once', async () => {
  const app = await openOwned()
  const { token } = await app.make({ metrics: ['revenue_today', 'mrr'] })
  const once = await app.read(token, `?apps=${BUNDLE}`)
  const [{ id = '' } = {}] = app.windfall.apps.list()
  const twice = await app.read(token, `?apps=${BUNDLE},${id},${BUNDLE}`)
  expect(twice.body).toEqual({ ...once.body, name: twice.body.name })
})

test('a widget whose apps are gone shows nothing of the others', async () => {
  const app = await openOwned()
  const [{ id = '' } = {}] = app.windfall.apps.list()
  const { token } = await app.make({ metrics: ['revenue_today', 'mrr'], apps: [id] })
  const { store } = app.windfall
  await store.commit(() => store.prepare('update widget_tokens set apps = \'["app_none"]\'').run())
  const { body } = await app.read(token)
  expect([body.revenue_today, body.mrr]).not.toContain(1_234_560)
})

test('the widget of an organization that is gone is unknown', async () => {
  const app = await openOwned()
  const { token } = await app.make()
  await app.windfall.store.commit(() => app.windfall.organizations.drop(app.organization.id))
  expect((await app.read(token)).body).toMatchObject({ code: 'unknown_widget' })
})

test('a token in a path that does not exist is not logged', async () => {
  const app = await openOwned()
  const { token } = await app.make()
  for (const path of [
    `/widget/v1/${token}.json/`,
    `/widget/${token}.json`,
    `/badge/v1/${token}.svg/x`,
    `/w/${token}`,
  ])
    await app.windfall.http.app.request(path)
  await expect.poll(() => app.log()).toContain('"path":"/w/')
  expect(app.log()).not.toContain(token)
})
