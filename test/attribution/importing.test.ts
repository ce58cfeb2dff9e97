/** Imports of links, over the API. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BUNDLE, dataBody, outerPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, rowsOf, type TestApp } from '../helpers.ts'
import { runs } from '../random.ts'

type Row = Record<string, unknown>

const rowOf = (app_user_id: string, original_transaction_id: string, attributes?: Row): Row => ({
  app: BUNDLE,
  app_user_id,
  original_transaction_id,
  ...(attributes && { attributes }),
})

async function importRows(app: TestApp, links: unknown[], options: Row = {}, token?: string) {
  const authorization = `Bearer ${token ?? (await app.key('secret'))}`
  const answer = await app.post('/api/v1/links/import', { links, ...options }, { authorization })
  return { status: answer.status, body: answer.body as Record<string, unknown> }
}

/** What users and links say, without times. */
const stateOf = ({ windfall: { store } }: TestApp) => ({
  links: rowsOf(store, 'links', ['id', 'app_id', 'created_at', 'updated_at']),
  users: rowsOf(store, 'users', ['app_id', 'created_at', 'seen_at', 'proved_at']),
})

test('links purchases and users with proof server, and sends nothing', async () => {
  const app = await openTestApp()
  const { body } = await importRows(app, [rowOf('ann', '1', { plan: 'pro' }), rowOf('bob', '2')])
  expect(body).toEqual({ dry_run: false, linked: 2, moved: 0, unchanged: 0, refused: 0, faults: [] })
  const { windfall } = app
  const [{ id: app_id } = { id: '' }] = windfall.apps.byBundle(BUNDLE)
  expect(windfall.attribution.links.get(app_id, 'apple', '1')).toMatchObject({
    app_user_id: 'ann',
    proved_app_user_id: 'ann',
    proofs: ['server'],
  })
  expect(windfall.attribution.users.get(app_id, 'ann')).toMatchObject({ proved_attributes: '{"plan":"pro"}' })
  const origins = windfall.store.prepare('select distinct origin from events').pluck().all()
  expect(origins).toEqual(['backfill'])
  expect(windfall.audit.list(null, 1)).toMatchObject([
    { action: 'links.imported', detail: '2 linked, 0 moved, 0 refused' },
  ])
})

test('imports the valid rows and says why each other row was refused', async () => {
  const app = await openTestApp()
  await importRows(app, [rowOf('cid', '9')])
  const erased = `/api/v1/users/cid?app=${BUNDLE}`
  const authorization = `Bearer ${await app.key('secret')}`
  expect((await app.request(erased, { method: 'DELETE', headers: { authorization } })).status).toBeLessThan(
    300,
  )
  const { body } = await importRows(app, [
    rowOf('ann', '1'),
    { ...rowOf('ann', '2'), app: 'com.example.none' },
    rowOf('guest', '3'),
    rowOf('ann', 'GPA.1234'),
    rowOf('cid', '4'),
    'text',
    rowOf('ann', '5', { deep: { no: 1 } }),
    rowOf('bob', '6'),
  ])
  expect(body).toMatchObject({ linked: 2, refused: 6 })
  expect(body.faults).toEqual([
    { row: 1, code: 'unknown_app', message: 'no app with the bundle id com.example.none is connected' },
    { row: 2, code: 'invalid_request', message: expect.stringContaining('app_user_id: is a placeholder') },
    { row: 3, code: 'invalid_request', message: expect.stringContaining('digits only') },
    { row: 4, code: 'forgotten', message: expect.any(String) },
    { row: 5, code: 'invalid_request', message: expect.any(String) },
    { row: 6, code: 'invalid_request', message: expect.stringContaining('attributes.deep') },
  ])
})

test('a dry run stores nothing and counts what would happen', async () => {
  const app = await openTestApp()
  await importRows(app, [rowOf('ann', '1'), rowOf('bob', '2')])
  const before = rowsOf(app.windfall.store, 'events')
  const rows = [rowOf('ann', '1'), rowOf('ann', '2'), rowOf('ann', '3'), rowOf('', '4')]
  const { body } = await importRows(app, rows, { dry_run: true })
  expect(body).toMatchObject({ dry_run: true, linked: 1, moved: 1, unchanged: 1, refused: 1 })
  expect(rowsOf(app.windfall.store, 'events')).toEqual(before)
})

test('a dry run counts the rows of one purchase as the import does', async () => {
  const app = await openTestApp()
  await importRows(app, [rowOf('ann', '1')])
  const rows = [
    rowOf('ann', '1'),
    rowOf('bob', '1'),
    rowOf('bob', '1'),
    rowOf('ann', '1'),
    rowOf('ann', '2'),
    rowOf('ann', '2'),
    rowOf('', '2'),
    rowOf('bob', '2'),
    rowOf('ann', '12'),
  ]
  const { body: judged } = await importRows(app, rows, { dry_run: true })
  expect(judged).toMatchObject({ linked: 2, moved: 3, unchanged: 3, refused: 1 })
  expect((await importRows(app, rows)).body).toEqual({ ...judged, dry_run: false })
})

test('does not count in the rate window of SDK calls', async () => {
  const app = await openTestApp()
  await importRows(
    app,
    Array.from({ length: 300 }, (_, index) => rowOf('ann', String(index + 1))),
  )
  const call = { appUserId: 'bob', bundleId: BUNDLE }
  expect((await app.post('/api/sdk/v1/identify', call)).status).toBe(200)
})

test('a link waits for its purchase', async () => {
  const app = await openTestApp()
  const { originalTransactionId } = transactionPayload()
  await importRows(app, [rowOf('ann', String(originalTransactionId))])
  await app.notify(
    outerPayload(dataBody({ signedTransactionInfo: app.authority.sign(transactionPayload()) })),
  )
  const customers = await app.request('/api/v1/customers?query=ann', {
    headers: { authorization: `Bearer ${await app.token()}` },
  })
  expect(JSON.stringify(await customers.json())).toContain(String(originalTransactionId))
})

test('refuses what is not an import', async () => {
  const app = await openTestApp()
  expect(await importRows(app, [])).toMatchObject({ status: 400 })
  expect(await importRows(app, Array(1_001).fill(rowOf('ann', '1')))).toMatchObject({ status: 400 })
  const publishable = await app.key('publishable')
  expect(await importRows(app, [rowOf('ann', '1')], {}, publishable)).toMatchObject({
    status: 403,
    body: { code: 'secret_key_required' },
  })
  expect((await app.post('/api/v1/links/import', { links: [rowOf('ann', '1')] })).status).toBe(401)
})

test('imports in pieces, repeated, or at once have the same result', async () => {
  const row = fc.record({
    user: fc.constantFrom('ann', 'bob', 'cid'),
    id: fc.integer({ min: 1, max: 6 }),
    plan: fc.option(fc.constantFrom('pro', 'free'), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 7 }),
      async (all, size) => {
        const rows = all.map(({ user, id, plan }) => rowOf(user, String(id), plan && { plan }))
        const [whole, pieces] = [await openTestApp(), await openTestApp()]
        await importRows(whole, rows)
        for (let at = 0; at < rows.length; at += size) {
          const piece = rows.slice(at, at + size)
          await importRows(pieces, piece)
          await importRows(pieces, piece)
        }
        expect(stateOf(pieces)).toEqual(stateOf(whole))
        await Promise.all([whole.close(), pieces.close()])
      },
    ),
    runs(5, 100),
  )
})
