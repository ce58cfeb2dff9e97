import { beforeEach, expect, test } from 'vitest'
import { utcMinuteText } from '../../../src/days.ts'
import type { Basis } from '../../../src/money.ts'
import { date } from '../../../src/web/ui/words.ts'
import { duringHash } from '../../access/held_hash.ts'
import { APPLE_ID, BUNDLE, NOW, renewedPayload } from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const OTHER = 'com.example.other'
const MINUTE = 60_000
const DAY = 86_400_000

let app: TestApp
let owner: Record<string, string>
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: OTHER }] })
  owner = await app.signIn()
})

const SAME_SITE = { 'sec-fetch-site': 'same-origin' }
type CreatedLink = { id: string; url: string; label: string }
type LinkRequest = {
  label?: string
  basis?: Basis
  apps?: string[] | null
  expires_at?: number
  passcode?: string
}
const share = (request: LinkRequest = {}) =>
  app.post('/api/v1/share-links', { label: 'For the bank', basis: 'gross', ...request }, owner)
const created = async (request: LinkRequest = {}) => (await share(request)).body as unknown as CreatedLink
const tokenOf = ({ url }: CreatedLink) => url.split('#')[1] ?? ''
const open = (token: string, more: object = {}, headers = SAME_SITE) =>
  app.post('/api/v1/share/open', { token, ...more }, headers)
const cookieOf = ({ headers }: { headers: Headers }) => ({
  ...SAME_SITE,
  cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '',
})
const guest = async (request: LinkRequest = {}) => cookieOf(await open(tokenOf(await created(request))))
const get = async (path: string, headers: Record<string, string>) => {
  const response = await app.request(path, { headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const links = async () =>
  (await get('/api/v1/share-links', owner)).body.share_links as Record<string, unknown>[]

test('a link is created, shown once, opened, and reads only its apps', async () => {
  const link = await share({ apps: [BUNDLE], basis: 'proceeds', expires_at: app.clock() + DAY })
  const id = app.windfall.apps.list().find(({ bundle_id }) => bundle_id === BUNDLE)?.id
  expect(link).toMatchObject({
    status: 201,
    body: {
      id: expect.stringMatching(/^lnk_/),
      label: 'For the bank',
      basis: 'proceeds',
      has_passcode: false,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/share#[\w-]{43}$/),
    },
  })
  const token = tokenOf(link.body as unknown as CreatedLink)
  expect(
    JSON.stringify([await links(), app.windfall.store.prepare('select * from share_links').all()]),
  ).not.toContain(token)
  const opened = await open(token)
  expect(opened).toMatchObject({
    status: 200,
    body: { state: 'guest', reach: { organization_id: null, apps: [id] }, basis: 'proceeds', fresh: false },
  })
  expect(opened.body.expires_at).toBe(app.clock() + DAY)
  const headers = cookieOf(opened)
  expect((await get('/api/v1/apps', headers)).body.apps).toMatchObject([{ bundle_id: BUNDLE }])
  expect((await get('/api/v1/session', headers)).body).toMatchObject({ state: 'guest' })
  expect((await get(`/api/v1/overview?app=${OTHER}`, headers)).body.code).toBe('unknown_app')
  expect(await links()).toMatchObject([{ opened_at: app.clock() }])
  expect(app.windfall.audit.list(null, 9).map(({ action }) => action)).toEqual(['link.opened', 'link.made'])
})

test('guests reach only their routes', async () => {
  const headers = await guest()
  const routes = app.windfall.http.routes().filter(({ path }) => path.startsWith('/api/v1/'))
  const open = routes.filter(({ security }) => security?.includes('guest')).map(({ path }) => path)
  expect(open.sort()).toEqual([
    '/api/v1/apps',
    '/api/v1/apps.csv',
    '/api/v1/batch',
    '/api/v1/cohorts',
    '/api/v1/cohorts.csv',
    '/api/v1/metrics',
    '/api/v1/metrics.csv',
    '/api/v1/metrics/:name',
    '/api/v1/overview',
    '/api/v1/overview.csv',
  ])
  const wrong: string[] = []
  for (const { method, path, security } of routes) {
    if (security?.includes('none')) continue
    const url = path.replace(':name', 'mrr').replace(/:\w+/g, 'x')
    const queries: Record<string, string> = { cohorts: '?metric=retention', batch: '?get=overview' }
    const query = queries[/cohorts|batch/.exec(path)?.[0] ?? ''] ?? ''
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' }
    const init = { method, headers: { ...headers, 'content-type': 'application/json' }, ...body }
    const response = await app.request(`${url}${query}`, init)
    // Read to the end, because a download in progress counts among the few that a guest can have.
    const text = await response.text()
    const code = response.ok ? 'ok' : (JSON.parse(text) as { code: string }).code
    if (code !== (security?.includes('guest') ? 'ok' : 'not_for_guests'))
      wrong.push(`${method} ${path} ${code}`)
  }
  expect(wrong).toEqual([])
})

const refusedAt = async (method: string, path: string, headers: object) => {
  const init = { method, headers: { ...SAME_SITE, ...headers } }
  const response = await app.request(path.replace(/:\w+/g, 'x'), init)
  return response.ok ? 'ok' : `${response.status} ${((await response.json()) as { code: string }).code}`
}

test('refuses anonymous requests everywhere, and tokens on owner routes', async () => {
  const authorization = `Bearer ${await app.token()}`
  const cookie = `windfall=${'x'.repeat(43)}`
  const routes = app.windfall.http
    .routes()
    .filter(({ security }) => security?.includes('session') && !security.includes('secret_key'))
  expect(routes.length).toBeGreaterThan(30)
  const wrong: string[] = []
  for (const { method, path, security } of routes) {
    const owners = !security?.includes('read_token')
    const outcomes = [
      await refusedAt(method, path, {}),
      await refusedAt(method, path, { cookie }),
      owners ? await refusedAt(method, path, { authorization }) : '401 sign_in_required',
    ]
    const first = owners ? '401 sign_in_required' : '401 token_required'
    if (outcomes.join() !== [first, '401 sign_in_required', '401 sign_in_required'].join())
      wrong.push(`${method} ${path}: ${outcomes}`)
  }
  expect(wrong).toEqual([])
})

test('a guest sees money only in the link’s basis, whatever the query', async () => {
  await app.notify(renewedPayload(app.authority))
  const gross = await guest({ basis: 'gross' })
  const proceeds = await guest({ basis: 'proceeds' })
  const basis = async (headers: Record<string, string>, path: string) => (await get(path, headers)).body.basis
  expect(await basis(gross, '/api/v1/metrics/revenue?basis=proceeds')).toBe('gross')
  expect(await basis(proceeds, '/api/v1/metrics/revenue?basis=gross')).toBe('proceeds')
  expect(await basis(proceeds, '/api/v1/metrics/mrr')).toBe('proceeds')
  expect(await basis(proceeds, '/api/v1/metrics/active_subscriptions')).toBe('gross')
  expect(await basis(proceeds, '/api/v1/metrics/churn_rate')).toBe('gross')
  const figures = async (headers: Record<string, string>, query = '') => {
    const { organizations } = (await get(`/api/v1/overview${query}`, headers)).body as {
      organizations: { basis: string; figures: { metric: string }[] }[]
    }
    const [one] = organizations
    return { basis: one?.basis, metrics: [...new Set(one?.figures.map(({ metric }) => metric))] }
  }
  const all = await figures(gross, '?basis=proceeds')
  expect(all.basis).toBe('gross')
  expect(all.metrics).toContain('mrr_movements')
  const some = await figures(proceeds, '?basis=gross')
  expect(some.basis).toBe('proceeds')
  expect(all.metrics.filter((name) => !some.metrics.includes(name))).toEqual([
    'mrr_movements',
    'quick_ratio',
    'mrr_churn_rate',
    'mrr_at_risk',
  ])
  expect(await figures(owner, '?basis=proceeds')).toEqual(some)
})

test.each([
  ['/api/v1/metrics/mrr_movements'],
  ['/api/v1/metrics/quick_ratio'],
  ['/api/v1/metrics/mrr_churn_rate.csv'],
])('a link for proceeds does not show what is known only as gross: %s', async (path) => {
  expect(await get(path, await guest({ basis: 'proceeds' }))).toMatchObject({
    status: 403,
    body: { code: 'not_for_guests' },
  })
  const gross = await app.request(path, { headers: await guest({ basis: 'gross' }) })
  expect(gross.status).toBe(200)
})

test('guests cannot filter by attribute', async () => {
  const path = '/api/v1/metrics/mrr?attribute=email=a@example.com'
  expect(await get(path, await guest())).toMatchObject({ status: 403, body: { code: 'not_for_guests' } })
  expect((await get(path, owner)).status).toBe(200)
})

test('a revoked or expired link admits no one, and its sessions end immediately', async () => {
  const revoked = await created()
  const ending = await created({ expires_at: app.clock() + DAY })
  const [first, second] = [cookieOf(await open(tokenOf(revoked))), cookieOf(await open(tokenOf(ending)))]
  const end = await app.request(`/api/v1/share-links/${revoked.id}`, { method: 'DELETE', headers: owner })
  expect(end.status).toBe(204)
  expect(await get('/api/v1/overview', first)).toMatchObject({
    status: 401,
    body: { code: 'sign_in_required' },
  })
  expect((await get('/api/v1/overview', second)).status).toBe(200)
  const kept = app.windfall.store.prepare('select link_id from sessions where link_id is not null')
  expect(kept.all()).toEqual([{ link_id: ending.id }])
  app.clock.turn(DAY)
  expect((await get('/api/v1/overview', second)).status).toBe(401)
  expect((await get('/api/v1/session', second)).body).toMatchObject({ state: 'setup', basis: null })
  for (const link of [revoked, ending])
    expect(await open(tokenOf(link))).toMatchObject({ status: 401, body: { code: 'invalid_share_link' } })
  const again = await app.request(`/api/v1/share-links/lnk_x`, { method: 'DELETE', headers: owner })
  expect(again.status).toBe(404)
})

test('requires the passcode, and limits guesses', async () => {
  const token = tokenOf(await created({ passcode: 'sesame' }))
  expect(await links()).toMatchObject([{ has_passcode: true }])
  const opened = (passcode?: string) => open(token, passcode === undefined ? {} : { passcode })
  expect(await opened()).toMatchObject({ status: 401, body: { code: 'passcode_required' } })
  for (let n = 0; n < 10; n += 1)
    expect(await opened('simsim')).toMatchObject({ status: 401, body: { code: 'wrong_passcode' } })
  const refused = await opened('sesame')
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(refused.headers.get('retry-after')).toBe('60')
  app.clock.turn(2 * MINUTE)
  expect((await opened('sesame')).body).toMatchObject({ state: 'guest' })
})

test('a link that is revoked during the passcode check admits no one', async () => {
  const link = await created({ passcode: 'sesame' })
  const answer = await duringHash(
    () => open(tokenOf(link), { passcode: 'sesame' }),
    () => app.windfall.store.commit(() => app.windfall.links.revoke(link.id)),
  )
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_share_link' } })
})

test('an owner who is signed out while a passcode is hashed creates no link', async () => {
  const answer = await duringHash(
    () => share({ passcode: 'sesame' }),
    () => app.windfall.store.commit(() => app.windfall.sessions.endOwners(null)),
  )
  expect(answer).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
  expect(app.windfall.links.list()).toEqual([])
  expect(app.windfall.audit.list(null, 9)).toEqual([])
})

test('a guest signs out, and another guest’s session replaces the one before', async () => {
  const token = tokenOf(await created())
  const first = cookieOf(await open(token))
  const second = cookieOf(await open(token, {}, first))
  expect((await get('/api/v1/overview', first)).status).toBe(401)
  const out = await app.request('/api/v1/logout', { method: 'POST', headers: second })
  expect(out.status).toBe(200)
  expect((await get('/api/v1/overview', second)).status).toBe(401)
})

test('opening a link does not turn the owner into a guest', async () => {
  const token = tokenOf(await created())
  expect(await open(token, {}, owner as typeof SAME_SITE)).toMatchObject({
    status: 409,
    body: { code: 'signed_in_already' },
  })
  expect((await get('/api/v1/session', owner)).body).toMatchObject({ state: 'owner' })
})

const LINK = '/api/v1/share-links'
const TOKEN = '/api/v1/tokens'
const CENTURY = 36_525 * DAY
test.each([
  [LINK, {}, 400, 'label: is required'],
  [LINK, { label: 'x' }, 400, 'basis: is required'],
  [LINK, { label: ' ', basis: 'gross' }, 400, 'label: must not be empty'],
  [LINK, { label: 'x'.repeat(101), basis: 'gross' }, 400, 'label: must have at most 100 characters'],
  [LINK, { label: 'x', basis: 'net' }, 400, 'basis: '],
  [LINK, { label: 'x', basis: 'gross', passcode: 'short' }, 400, 'passcode: must have at least 6 characters'],
  [
    LINK,
    { label: 'x', basis: 'gross', passcode: 'x'.repeat(513) },
    400,
    'passcode: must have at most 512 bytes',
  ],
  [LINK, { label: 'x', basis: 'gross', expires_at: 1 }, 400, 'expires_at: must be in the future'],
  [
    LINK,
    { label: 'x', basis: 'gross', expires_at: NOW + CENTURY + 1 },
    400,
    'expires_at: must be at most 100',
  ],
  [LINK, { label: 'x', basis: 'gross', apps: [] }, 400, 'apps: must name at least one'],
  [LINK, { label: 'x', basis: 'gross', apps: ['com.example.none'] }, 404, 'there is no app com.example.none'],
  [LINK, { label: 'x', basis: 'gross', organization_id: 'org_x' }, 404, 'there is no organization'],
  [LINK, { label: 'x', basis: 'gross', colour: 'red' }, 400, 'colour: '],
  [TOKEN, {}, 400, 'label: is required'],
  [TOKEN, { label: 'x', expires_at: 1.5 }, 400, 'expires_at: must be a whole number'],
  [TOKEN, { label: 'x', expires_at: NOW + CENTURY + 1 }, 400, 'expires_at: must be at most 100 years ahead'],
  [TOKEN, { label: 'x', expires_at: Number.MAX_SAFE_INTEGER }, 400, 'expires_at: must be at most 100 years'],
  [TOKEN, { label: 'x', apps: 'all' }, 400, 'apps: '],
  [TOKEN, { label: 'x', organization_id: 'org_x' }, 404, 'there is no organization'],
])('%s refuses %j', async (path, body, status, words) => {
  const refused = await app.post(path, body, owner)
  expect(refused.status).toBe(status)
  expect(refused.body.detail).toContain(words)
  expect((await get(path, owner)).body).toEqual({ [path === LINK ? 'share_links' : 'tokens']: [] })
})

test('a token and a link may be valid for 100 years, and a later end that is stored breaks no list', async () => {
  const expires_at = app.clock() + CENTURY
  const request = { label: 'x', expires_at }
  const { token } = (await app.post(TOKEN, request, owner)).body as unknown as { token: string }
  expect((await app.post(LINK, { ...request, basis: 'gross' }, owner)).status).toBe(201)
  const { store } = app.windfall
  await store.commit(() => {
    for (const table of ['api_tokens', 'share_links'])
      store.prepare<[number]>(`update ${table} set expires_at = ?`).run(Number.MAX_SAFE_INTEGER)
  })
  const ends = [
    (await get(TOKEN, owner)).body.tokens as { expires_at: number }[],
    (await get(LINK, owner)).body.share_links as { expires_at: number }[],
  ].flat()
  expect(ends).toHaveLength(2)
  for (const { expires_at: end } of ends) {
    expect(date(end)).toContain('275760')
    expect(utcMinuteText(end)).toContain('275760')
  }
  expect((await get('/api/v1/apps', { authorization: `Bearer ${token}` })).status).toBe(200)
})

test.each([
  [{}],
  [{ token: '' }],
  [{ token: 'x'.repeat(201) }],
  [{ token: 'x', passcode: 1 }],
  [{ token: 'x', more: 1 }],
])('a link is not opened with %j', async (body) => {
  const refused = await app.post('/api/v1/share/open', body, SAME_SITE)
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})

test('a token is created, listed without its text, reads, and is revoked', async () => {
  const request = { label: ' laptop ', apps: [BUNDLE], expires_at: app.clock() + DAY }
  const given = await app.post(TOKEN, request, owner)
  expect(given).toMatchObject({
    status: 201,
    body: { label: 'laptop', token: expect.stringMatching(/^wf_/) },
  })
  const { token, id } = given.body as unknown as { token: string; id: string }
  const bearer = { authorization: `Bearer ${token}` }
  expect((await get('/api/v1/apps', bearer)).body.apps).toMatchObject([{ bundle_id: BUNDLE }])
  const listed = (await get(TOKEN, owner)).body
  expect(listed).toMatchObject({
    tokens: [{ id, label: 'laptop', revoked_at: null, expires_at: request.expires_at }],
  })
  expect(JSON.stringify(listed)).not.toContain(token)
  const revoke = () => app.request(`${TOKEN}/${id}`, { method: 'DELETE', headers: owner })
  expect((await revoke()).status).toBe(204)
  expect((await get('/api/v1/apps', bearer)).body.code).toBe('invalid_token')
  expect((await app.request(`${TOKEN}/tok_x`, { method: 'DELETE', headers: owner })).status).toBe(404)
  expect(app.windfall.audit.list(null, 2).map(({ action, subject }) => [action, subject])).toEqual([
    ['token.revoked', id],
    ['token.made', id],
  ])
})

test('creating links and tokens requires a recent password entry', async () => {
  app.clock.turn(15 * MINUTE)
  for (const [path, body] of [
    [LINK, { label: 'x', basis: 'gross' }],
    [TOKEN, { label: 'x' }],
  ] as const)
    expect(await app.post(path, body, owner)).toMatchObject({
      status: 403,
      body: { code: 'reauthentication_required' },
    })
})
