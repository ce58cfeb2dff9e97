/** The day on which an organization accepts only proved calls: whom it refuses, how, and when it ends. */
import { expect, test } from 'vitest'
import { BUNDLE } from '../../apple/samples.ts'
import { handClock, openTestApp } from '../../helpers.ts'
import { APP, openAttested } from './enrolled.ts'

const HOUR = 3_600_000
const DAY = 86_400_000

type Attested = Awaited<ReturnType<typeof openAttested>>

/** Turns the mode of the first organization on or off, as the owner does. */
async function turn({ app }: Pick<Attested, 'app'>, isOn: boolean, id = app.organization.id) {
  const response = await app.request(`/api/v1/organizations/${id}/attested-only`, {
    method: isOn ? 'POST' : 'DELETE',
    headers: await app.signIn(),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('refuses calls without proof as to be repeated, and accepts devices, secret keys and enrolments', async () => {
  const opened = await openAttested()
  const { app, clock, enrol, identify, attribute } = opened
  const token = await enrol()
  const until_at = clock() + DAY
  expect(await turn(opened, true)).toEqual({
    status: 200,
    body: { organization_id: app.organization.id, until_at },
  })
  for (const key of [null, await app.key('publishable')]) {
    expect(await identify(key, 'ada')).toMatchObject({ status: 429, code: 'attested_only' })
    expect(await attribute(key, 'ada', '1001')).toMatchObject({ status: 429, code: 'attested_only' })
  }
  const refused = await app.post('/api/sdk/v1/identify', { appUserId: 'ada', bundleId: BUNDLE })
  expect(refused.headers.get('retry-after')).toBe('900')
  expect(refused.body.detail).toContain('until 2026-06-02 12:00Z')
  for (const key of [token, await app.key('secret'), await enrol()])
    expect(await identify(key, 'grace')).toMatchObject({ status: 200 })
  expect(opened.rows('select app_user_id from users')).toEqual([{ app_user_id: 'grace' }])
})

test('a device whose token has ended may enrol again, instead of waiting for the end', async () => {
  const opened = await openAttested()
  const { identify } = opened
  await turn(opened, true)
  expect(await identify('dt_ended', 'ada')).toMatchObject({ status: 401, code: 'invalid_key' })
})

test('ends after 24 hours by itself, or earlier; a second begin counts from then on', async () => {
  const opened = await openAttested()
  const { app, clock, identify } = opened
  await turn(opened, true)
  clock.turn(23 * HOUR)
  expect((await turn(opened, true)).body.until_at).toBe(clock() + DAY)
  clock.turn(DAY - 1)
  expect(await identify(null, 'ada')).toMatchObject({ code: 'attested_only' })
  clock.turn(1)
  expect((await identify(null, 'ada')).status).toBe(200)
  await turn(opened, true)
  expect((await turn(opened, false)).body.until_at).toBe(null)
  expect((await identify(null, 'ada')).status).toBe(200)
  expect((await turn(opened, false)).status).toBe(200)
  const actions = app.windfall.audit.list(null, 20).map(({ action }) => action)
  expect(actions.filter((action) => action.startsWith('attested_only'))).toEqual([
    'attested_only.ended',
    'attested_only.begun',
    'attested_only.begun',
    'attested_only.begun',
  ])
})

test('a begin that a wrong clock stored does not last until then', async () => {
  const opened = await openAttested()
  const { clock, identify } = opened
  const now = clock()
  clock.turn(400 * DAY)
  await turn(opened, true)
  clock.set(now)
  expect((await identify(null, 'ada')).status).toBe(200)
})

test('survives a restart', async () => {
  const opened = await openAttested()
  const { app, clock } = opened
  await turn(opened, true)
  await app.windfall.close()
  clock.turn(23 * HOUR)
  const again = await openTestApp({ folder: app.folder, clock, apps: [] })
  const call = () => again.post('/api/sdk/v1/identify', { appUserId: 'ada', bundleId: BUNDLE })
  expect((await call()).body.code).toBe('attested_only')
  clock.turn(HOUR)
  expect((await call()).status).toBe(200)
})

test('concerns one organization', async () => {
  const opened = await openAttested()
  const { app } = opened
  const { store, organizations, apps, keys } = app.windfall
  const base = { name: 'Second', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' } as const
  await store.commit(() => organizations.declare([{ slug: 'second', ...base }]))
  const second = organizations.resolve('second')
  await store.commit(() => apps.add(second.id, { bundle_id: 'com.example.second' }, 'test'))
  await turn(opened, true)
  const key = await store.commit(() => keys.create(second.id, 'publishable', 'test').token)
  const call = { appUserId: 'ada', bundleId: 'com.example.second' }
  const headers = { authorization: `Bearer ${key}` }
  expect((await app.post('/api/sdk/v1/identify', call, headers)).status).toBe(200)
  expect(await turn(opened, true, 'org_none')).toMatchObject({
    status: 404,
    body: { code: 'unknown_organization' },
  })
})

test('only the owner sees and changes it; the owner sees which apps have no attested device', async () => {
  const other = { ...APP, bundle_id: 'com.example.other', apple_id: 2, android_package: 'com.example.droid' }
  const opened = await openAttested({ apps: [APP, other] })
  const { app, enrol } = opened
  await enrol()
  const { until_at } = (await turn(opened, true)).body
  const read = async (headers: Record<string, string>) => {
    const response = await app.request('/api/v1/security', { headers })
    return (await response.json()) as { attested_only?: unknown; code?: string }
  }
  expect(await read({ authorization: `Bearer ${await app.token()}` })).toMatchObject({
    code: 'sign_in_required',
  })
  const idOf = (bundle: string) => app.windfall.apps.byBundle(bundle)[0]?.id
  expect((await read(await app.signIn())).attested_only).toEqual([
    {
      organization_id: app.organization.id,
      name: 'Default',
      until_at,
      apps: [
        { app_id: idOf(BUNDLE), devices: 1, has_android: false },
        { app_id: idOf('com.example.other'), devices: 0, has_android: true },
      ],
    },
  ])
  const path = `/api/v1/organizations/${app.organization.id}/attested-only`
  const headers = { authorization: `Bearer ${await app.token()}` }
  for (const method of ['POST', 'DELETE'])
    expect((await app.request(path, { method, headers })).status).toBe(401)
})

test('the status says that it is on, and counts what it refused as a notice', async () => {
  const opened = await openAttested({ clock: handClock() })
  const { app, identify } = opened
  await turn(opened, true)
  for (let call = 0; call < 2; call += 1) await identify(null, 'ada')
  await app.windfall.refusedCalls.flush()
  const found = await app.windfall.health.findings()
  const titles = (subject: string) =>
    found.filter((one) => one.subject === subject).map(({ state, details }) => [state, details?.title])
  expect(titles('devices')).toEqual([['notice', 'Only attested devices are accepted']])
  expect(titles('SDK calls')).toEqual([
    ['notice', `2 calls for ${BUNDLE} were refused as not attested today`],
  ])
  await turn(opened, false)
  expect((await app.windfall.health.findings()).filter(({ subject }) => subject === 'devices')).toEqual([])
})
