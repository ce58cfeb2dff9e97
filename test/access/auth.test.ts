import { expect, test } from 'vitest'
import { openSignedIn } from '../api/owner/settings_pages.ts'
import { APPLE_ID, BUNDLE, outerPayload } from '../apple/samples.ts'
import { rowsOf, type TestApp } from '../helpers.ts'

const OTHER = 'com.example.other'
const PASSWORD = { password: 'another good phrase' }

/** A valid body for every owner route that reads one. */
const ROUTES: Record<string, object> = {
  '/api/v1/keys': { kind: 'secret', label: 'backend' },
  '/api/v1/keys/:id/rotate': {},
  '/api/v1/password': { ...PASSWORD, current_password: 'correct horse battery' },
  '/api/v1/pending/:bundle_id/connect': {},
  '/api/v1/reauth': PASSWORD,
  '/api/v1/share-links': { label: 'For the bank', basis: 'gross' },
  '/api/v1/test-notification': { app: BUNDLE, environment: 'sandbox' },
  '/api/v1/tokens': { label: 'laptop' },
}

/** Every table that these routes write, except sessions, which the test itself ends. */
const TABLES = ['api_tokens', 'apps', 'audit_log', 'owner', 'sdk_keys', 'share_links']
const written = ({ windfall }: TestApp) => TABLES.map((table) => rowsOf(windfall.store, table))

/** A body that ends only when `closeBody` is called. */
function slowBody(value: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  let closeBody = (): void => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 1))
      closeBody = () => {
        controller.enqueue(bytes.subarray(1))
        controller.close()
      }
    },
  })
  return { body, closeBody: () => closeBody() }
}

/** A pending notification of another app, a secret key to rotate, and everything else that the bodies name. */
async function openWaiting() {
  const owned = await openSignedIn({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }] })
  const { app } = owned
  const data = { bundleId: OTHER, environment: 'Production', appAppleId: 77 }
  await app.notify(outerPayload({ data }, { notificationType: 'TEST', notificationUUID: 'waits' }))
  const { store, keys } = app.windfall
  const { id } = await store.commit(() => keys.create(app.organization.id, 'secret', 'old'))
  const addressOf = (path: string) => path.replace(':id', id).replace(':bundle_id', OTHER)
  return { ...owned, addressOf }
}

test('covers every owner route that reads a body', async () => {
  const { app } = await openSignedIn()
  const reading = app.windfall.http
    .routes()
    .filter(({ security, body }) => security?.join() === 'session' && body !== undefined)
    .map(({ path }) => path)
  expect(reading.sort()).toEqual(Object.keys(ROUTES))
})

/** Sends a request and runs `whileWaiting` after authentication and before the body ends. Returns the rows before and after. */
async function requestSlowly(path: string, whileWaiting: (app: TestApp) => unknown) {
  const { app, addressOf } = await openWaiting()
  const headers = { ...(await app.signIn()), 'content-type': 'application/json' }
  const before = written(app)
  const { body, closeBody } = slowBody(ROUTES[path] ?? {})
  const pending = app.request(addressOf(path), {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  } as RequestInit)
  await new Promise((resolve) => setImmediate(resolve))
  await whileWaiting(app)
  closeBody()
  const answer = await pending
  const { code } = (await answer.json()) as { code?: string }
  await app.windfall.store.commit(() => {})
  return { outcome: [answer.status, code], before, after: written(app) }
}

test.each(Object.keys(ROUTES))(
  'writes nothing if the session ends while the body for %s arrives',
  async (path) => {
    const { outcome, before, after } = await requestSlowly(path, ({ windfall }) =>
      windfall.store.commit(() => windfall.sessions.endAll()),
    )
    expect(outcome).toEqual([401, 'sign_in_required'])
    expect(after).toEqual(before)
  },
)

test.each(['/api/v1/keys', '/api/v1/keys/:id/rotate', '/api/v1/share-links', '/api/v1/tokens'])(
  'requires a recent password when the body for %s has arrived',
  async (path) => {
    const { outcome, before, after } = await requestSlowly(path, ({ clock }) => clock.turn(15 * 60_000))
    expect(outcome).toEqual([403, 'reauthentication_required'])
    expect(after).toEqual(before)
  },
)
