import { expect, test } from 'vitest'
import { BUNDLE, NOW, outerPayload } from '../../apple/samples.ts'
import type { TestApp } from '../../helpers.ts'
import { openSignedIn } from './settings_pages.ts'

const DAY = 86_400_000
const OTHER = 'com.example.other'

async function arrive(
  app: TestApp,
  bundleId: string,
  appAppleId: number | null,
  uuid: string,
  slug = '',
): Promise<void> {
  const data = { bundleId, environment: 'Production', ...(appAppleId !== null && { appAppleId }) }
  const outer = { notificationType: 'TEST', notificationUUID: uuid }
  const signedPayload = app.authority.sign(outerPayload({ data }, outer))
  expect((await app.post(`/apple/notifications${slug}`, { signedPayload })).status).toBe(200)
}

test('lists pending notifications, and applies them when the app is connected', async () => {
  const { app, call, auditEntries } = await openSignedIn()
  await arrive(app, OTHER, 77, 'one')
  app.clock.turn(DAY)
  await arrive(app, OTHER, 77, 'two')
  expect((await call('GET', 'pending')).body).toEqual({
    pending: [
      {
        organization_id: null,
        bundle_id: OTHER,
        apple_id: 77,
        connected: null,
        notifications: 2,
        first_received_at: NOW,
        last_received_at: NOW + DAY,
        kept_until_at: NOW + 7 * DAY,
      },
    ],
  })
  const connected = await call('POST', `pending/${OTHER}/connect`, {})
  expect(connected).toMatchObject({
    status: 200,
    body: { applied: 2, app: { bundle_id: OTHER, apple_id: 77, source: 'dashboard' } },
  })
  expect(app.feed(['notification.test']).map(({ cause, origin }) => [cause, origin])).toEqual([
    ['one', 'recovered'],
    ['two', 'recovered'],
  ])
  expect((await call('GET', 'pending')).body).toEqual({ pending: [] })
  expect(auditEntries()).toEqual([
    { action: 'app.connected', subject: (connected.body.app as { id: string }).id },
  ])
  expect(await call('POST', `pending/${OTHER}/connect`, {})).toMatchObject({
    status: 404,
    body: { code: 'unknown_pending' },
  })
})

test('connecting an app with a different Apple id takes the id from Apple', async () => {
  const { app, call } = await openSignedIn()
  await arrive(app, BUNDLE, 5, 'one')
  const { pending } = (await call('GET', 'pending')).body as { pending: { connected: { source: string } }[] }
  expect(pending[0]?.connected).toMatchObject({ source: 'test' })
  expect((await call('POST', `pending/${BUNDLE}/connect`, {})).body).toMatchObject({
    applied: 1,
    app: { apple_id: 5 },
  })
})

test('with several organizations, requires one unless the URL named it', async () => {
  const { app, call } = await openSignedIn()
  const { store, organizations } = app.windfall
  const beside = { ...app.organization, slug: 'beta', name: 'Beta' }
  await store.commit(() => organizations.declare([app.organization, beside]))
  await arrive(app, OTHER, null, 'one')
  expect(await call('POST', `pending/${OTHER}/connect`, {})).toMatchObject({
    status: 400,
    body: { code: 'organization_needed' },
  })
  expect(await call('POST', `pending/${OTHER}/connect`, { organization_id: 'org_none' })).toMatchObject({
    status: 404,
    body: { code: 'unknown_organization' },
  })
  const beta = app.windfall.organizations.findBySlug('beta')
  const connected = await call('POST', `pending/${OTHER}/connect`, { organization_id: beta?.id })
  expect(connected.body).toMatchObject({ applied: 1, app: { organization_id: beta?.id, apple_id: null } })
})

test('connects the app to the organization in the URL, unless the owner names another', async () => {
  const { app, call } = await openSignedIn()
  const { store, organizations } = app.windfall
  await store.commit(() =>
    organizations.declare([app.organization, { ...app.organization, slug: 'beta', name: 'Beta' }]),
  )
  await arrive(app, OTHER, 77, 'one', '/beta')
  await arrive(app, 'com.example.third', 78, 'two', '/beta')
  expect((await call('POST', `pending/${OTHER}/connect`, {})).body).toMatchObject({
    applied: 1,
    app: { organization_id: organizations.findBySlug('beta')?.id },
  })
  const request = { organization_id: app.organization.id }
  expect((await call('POST', 'pending/com.example.third/connect', request)).body).toMatchObject({
    applied: 0,
    app: request,
  })
})

test.each([
  [{ organisation: 'x' }, 400, 'invalid_request'],
  [{ organization_id: 5 }, 400, 'invalid_request'],
])('%j connects nothing', async (body, status, code) => {
  const { app, call } = await openSignedIn()
  await arrive(app, OTHER, 77, 'one')
  expect(await call('POST', `pending/${OTHER}/connect`, body)).toMatchObject({ status, body: { code } })
  expect(app.windfall.apps.byBundle(OTHER)).toEqual([])
})

test('refuses to change what config.toml declares', async () => {
  const { app, call } = await openSignedIn({
    env: { WINDFALL_APPS: `[{ bundle_id = "${OTHER}", apple_id = 9 }]` },
  })
  await arrive(app, OTHER, 77, 'one')
  expect(await call('POST', `pending/${OTHER}/connect`, {})).toMatchObject({
    status: 409,
    body: { code: 'declared_in_config' },
  })
})
