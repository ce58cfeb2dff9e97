import { beforeEach, expect, test } from 'vitest'
import { dataBody, NOW, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const BUNDLE = 'com.example.lantern'
let app: TestApp
let logged: string[]
beforeEach(async () => {
  logged = []
  app = await openTestApp({ logged })
})

type Erasure = { id: string; finished_at: number | null; asked_by: string; links: number; scrubbed: number }

const identify = (appUserId: string) =>
  app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, attributes: { plan: 'pro' } })
async function request(path: string, token: string | null, method = 'GET') {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const answer = await app.request(path, { method, headers })
  const body = (await answer.json()) as Erasure & { code?: string; erasures: Erasure[] }
  return { status: answer.status, body }
}
const remove = (user: string, token: string | null, app_name = BUNDLE, more = '') =>
  request(`/api/v1/users/${encodeURIComponent(user)}?app=${app_name}${more}`, token, 'DELETE')
const userExists = (user: string): boolean => {
  const mine = app.windfall.apps.ofOrganization(app.organization.id, BUNDLE)
  return app.windfall.attribution.users.get(mine?.id ?? '', user) !== null
}

test('a secret key erases a user and polls the progress, and readers see the erasure', async () => {
  const user = 'a/ü %2F?#'
  await identify(user)
  const secret = await app.key('secret')
  const removed = await remove(user, secret)
  expect(removed).toMatchObject({ status: 202, body: { finished_at: null, bundle_id: BUNDLE } })
  expect(removed.body.asked_by).toMatch(/^key_/)
  expect(userExists(user)).toBe(false)
  expect((await identify(user)).status).toBe(410)
  await app.windfall.erasures.finished(removed.body.id)
  const done = await remove(user, secret)
  expect(done).toMatchObject({ status: 200, body: { id: removed.body.id, finished_at: app.clock() } })

  expect(app.windfall.audit.list(null, 1)).toMatchObject([
    {
      actor: removed.body.asked_by,
      address: '127.0.0.1',
      action: 'user.forgotten',
      subject: removed.body.id,
    },
  ])

  const read = await request('/api/v1/erasures', await app.token())
  expect(read).toEqual({ status: 200, body: { erasures: [done.body], next: null } })
  expect(JSON.stringify([done, read])).not.toContain('ü')
  app.windfall.log.flush()
  const requests = logged.join('').split('\n')
  expect(requests.filter((line) => line.includes('"DELETE"'))).toHaveLength(2)
  expect(requests.filter((line) => /%C3%BC|ü/.test(line))).toEqual([])
})

test('the owner erases a user after a recent password entry', async () => {
  await identify('ann')
  const owner = await app.signIn()
  const mine = app.windfall.apps.ofOrganization(app.organization.id, BUNDLE)
  const requestErasure = async (headers: Record<string, string>, name = mine?.id) => {
    const answer = await app.request(`/api/v1/users/ann?app=${name}`, { method: 'DELETE', headers })
    return { status: answer.status, body: (await answer.json()) as Erasure & { code?: string } }
  }
  expect(await requestErasure({ ...owner, 'sec-fetch-site': 'cross-site' })).toMatchObject({
    status: 403,
    body: { code: 'cross_site' },
  })
  expect(await requestErasure(owner, 'app_none')).toMatchObject({
    status: 404,
    body: { code: 'unknown_app' },
  })
  app.clock.turn(15 * 60_000)
  expect(await requestErasure(owner)).toMatchObject({
    status: 403,
    body: { code: 'reauthentication_required' },
  })
  expect(userExists('ann')).toBe(true)
  const removed = await requestErasure(await app.signIn())
  expect(removed).toMatchObject({ status: 202, body: { asked_by: 'owner' } })
  expect(userExists('ann')).toBe(false)
  expect(app.windfall.audit.list(null, 1)).toMatchObject([
    { actor: 'owner', action: 'user.forgotten', subject: removed.body.id },
  ])
  await app.windfall.erasures.finished(removed.body.id)
})

test('lists erasures in pages, and only those of the token’s apps', async () => {
  const secret = await app.key('secret')
  for (const user of ['first-user', 'second-user', 'third-user']) {
    await identify(user)
    await app.windfall.erasures.finished((await remove(user, secret)).body.id)
    app.clock.turn(1_000)
  }
  const token = await app.token()
  const { erasures } = (await request('/api/v1/erasures', token)).body
  expect(erasures.map(({ finished_at }) => finished_at)).toEqual(
    [2, 1, 0].map((turn) => app.clock() - 3_000 + turn * 1_000),
  )
  const second = await request(`/api/v1/erasures?limit=1&before=${erasures[0]?.id}`, token)
  expect(second.body.erasures).toEqual([erasures[1]])
  expect((await request('/api/v1/erasures?before=era_none', token)).body.erasures).toEqual([])
  const narrow = await app.windfall.store.commit(
    () =>
      app.windfall.tokens.create('narrow', { organization_id: app.organization.id, apps: ['app_other'] })
        .token,
  )
  expect((await request('/api/v1/erasures', narrow)).body.erasures).toEqual([])
  expect(await request('/api/v1/erasures?limit=0', token)).toMatchObject({
    body: { code: 'invalid_request' },
  })
  expect((await request('/api/v1/erasures', null)).status).toBe(401)
  expect((await request('/api/v1/erasures', secret)).status).toBe(401)
})

test('refuses wrong callers and unknown users without erasing anyone', async () => {
  await identify('user-1')
  const secret = await app.key('secret')
  const { windfall } = app
  const { store, organizations, apps, keys } = windfall
  const { id: _, ...mine } = app.organization
  await store.commit(() => organizations.declare([mine, { ...mine, slug: 'second' }]))
  const second = organizations.resolve('second')
  await store.commit(() => apps.add(second.id, { bundle_id: BUNDLE }, 'test'))
  await store.commit(() => apps.add(second.id, { bundle_id: 'com.example.second' }, 'test'))
  const theirs = await store.commit(() => keys.create(second.id, 'secret', 'test').token)
  const refusals: [Promise<{ status: number; body: object }>, number, string][] = [
    [remove('user-1', null), 401, 'credential_required'],
    [remove('user-1', 'sk_live_unheard_of'), 401, 'invalid_key'],
    [remove('user-1', await app.token()), 401, 'invalid_key'],
    [remove('user-1', await app.key('publishable')), 403, 'secret_key_required'],
    [remove('user-1', secret, 'com.example.unknown'), 403, 'app_not_in_organization'],
    [remove('user-1', secret, 'com.example.second'), 403, 'app_not_in_organization'],
    [remove('user-1', secret, apps.byBundle('com.example.second')[0]?.id), 403, 'app_not_in_organization'],
    [remove('nobody-known', secret), 404, 'unknown_user'],
    [remove('user-1', theirs), 404, 'unknown_user'],
    [remove('null', secret), 400, 'invalid_request'],
    [remove(' user-1', secret), 400, 'invalid_request'],
    [remove('user-1', secret, ''), 400, 'invalid_request'],
    [remove('user-1', secret, BUNDLE, '&unknown=maybe'), 400, 'invalid_request'],
    [request('/api/v1/users/user-1', secret, 'DELETE'), 400, 'invalid_request'],
    [request('/api/v1/users/%ff?app=x', secret, 'DELETE'), 400, 'invalid_path'],
    [request(`/api/v1/users/user-1?app=${BUNDLE}`, secret, 'POST'), 405, 'method_not_allowed'],
  ]
  for (const [answer, status, code] of refusals)
    expect(await answer).toMatchObject({ status, body: { code } })
  expect(userExists('user-1')).toBe(true)
  expect(windfall.store.prepare('select * from erasures').all()).toEqual([])
  expect(await remove('nobody-known', secret, BUNDLE, '&unknown=accept')).toMatchObject({ status: 202 })
  const headers = { authorization: `Bearer ${secret}` }
  const late = await app.post(
    '/api/sdk/v1/identify',
    { appUserId: 'nobody-known', bundleId: BUNDLE },
    headers,
  )
  expect(late.status).toBe(410)
})

test('the live feed contains no erased user, also in delayed and replayed events', async () => {
  const token = await app.token()
  const open = async (headers: Record<string, string>) => {
    const answer = await app.request('/api/v1/events/stream', {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
    const reader = answer.body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    return {
      async until(what: string): Promise<string> {
        while (!text.includes(what)) text += decoder.decode((await reader?.read())?.value, { stream: true })
        return text
      },
      end: () => reader?.cancel(),
    }
  }
  const watching = await open({})
  await watching.until('retry')
  await identify('early-bird')
  await watching.until('early-bird')
  // The next are sent together, a moment later: by then one of them is forgotten.
  await identify('short-lived')
  const { body } = await remove('short-lived', await app.key('secret'))
  await identify('someone-else')
  expect(await watching.until('someone-else')).not.toContain('short-lived')
  await watching.end()

  await app.windfall.erasures.finished(body.id)
  const resumed = await open({ 'last-event-id': '0' })
  const text = await resumed.until('someone-else')
  expect(text).not.toContain('short-lived')
  expect(text).toContain(`"cause":"forgotten/${body.id}","occurred_at"`)
  expect(text.match(/^id: \d+$/gm)).toEqual(['id: 1', 'id: 2', 'id: 3'])
  await resumed.end()
})

const TOKEN = 'ab12cd34-0000-4000-8000-00000000beef'
/** Apple speaks of a purchase by whom the app names so. */
async function purchase(uuid: string, changes: Record<string, unknown> = {}) {
  const { originalTransactionId, ...one } = { ...transactionPayload({ appAccountToken: TOKEN }), ...changes }
  const signedTransactionInfo = app.authority.sign({ ...one, originalTransactionId })
  const signedRenewalInfo = app.authority.sign(
    renewalPayload({ originalTransactionId, appAccountToken: TOKEN }),
  )
  const body = dataBody({ signedTransactionInfo, signedRenewalInfo })
  expect((await app.notify(outerPayload(body, { notificationUUID: uuid }))).status).toBe(200)
}

test.each([TOKEN, TOKEN.toUpperCase()])(
  'an erased user id that is the appAccountToken (%s) is not shown or found, also later',
  async (user) => {
    await purchase('before')
    const token = await app.token()
    const read = async (path: string) => JSON.stringify((await request(`/api/v1/${path}`, token)).body)
    const found = async () => JSON.parse(await read(`customers?query=${user}`)).customers as { id: string }[]
    const [customer] = await found()
    const namesToken = async () =>
      [await read(`customers/${customer?.id}`), await read('events?limit=100')].map((text) =>
        text.includes(TOKEN),
      )
    expect(await namesToken()).toEqual([true, true])

    const { body } = await remove(user, await app.key('secret'), BUNDLE, '&unknown=accept')
    await app.windfall.erasures.finished(body.id)
    expect(await namesToken()).toEqual([false, false])
    expect(await found()).toEqual([])

    app.clock.turn(1_000)
    const next = { transactionId: '999', purchaseDate: NOW + 500, expiresDate: NOW + 60 * 86_400_000 }
    await purchase('after', next)
    expect(await read('events')).toContain('"999"')
    expect(await namesToken()).toEqual([false, false])
    // Another person's is told as ever.
    const other = TOKEN.replace('beef', 'cafe')
    await purchase('other', { transactionId: '1000', originalTransactionId: '1000', appAccountToken: other })
    expect(await read('events')).toContain(other)
  },
)

test('the log contains no user id from the API or the page', async () => {
  await identify('alice@example.com')
  for (const path of ['/api/v1/users/alice%40example.com', '/users/alice%40example.com'])
    await app.request(path, { headers: { authorization: `Bearer ${await app.token()}` } })
  app.windfall.log.flush()
  const lines = logged.join('')
  expect(lines).toContain('"/api/v1/users/:app_user_id"')
  expect(lines).toContain('"/users/:id"')
  expect(lines).not.toContain('alice')
})
