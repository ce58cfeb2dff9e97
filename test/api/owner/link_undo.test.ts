import { expect, test } from 'vitest'
import { customerId } from '../../../src/ledger/customers.ts'
import { BUNDLE, transactionPayload } from '../../apple/samples.ts'
import { openSignedIn } from './settings_pages.ts'

type Move = Record<string, unknown> & { id: string; can_undo: boolean }
type Profile = { links: Record<string, unknown>[]; link_history: Move[] }

/** A purchase that Ann is proved to have made, and that a call without proof moved to Bob. */
async function openWithMove() {
  const owned = await openSignedIn()
  const { app, call } = owned
  const jws = app.authority.sign(transactionPayload({ transactionId: '100', originalTransactionId: '100' }))
  const attribute = async (appUserId: string, more: object = {}) => {
    const body = { appUserId, bundleId: BUNDLE, originalTransactionId: '100', ...more }
    expect((await app.post('/api/sdk/v1/attribute', body)).status).toBe(200)
  }
  await attribute('ann', { jws })
  await attribute('bob')
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const profile = async () =>
    (await call('GET', `customers/${customerId(lantern?.id ?? '', 'production', '100')}`))
      .body as unknown as Profile
  const undo = (id: unknown) => call('POST', `link-moves/${id}/undo`)
  return { ...owned, attribute, profile, undo, app_id: lantern?.id ?? '' }
}

test('undoing a move links the purchase to the previous user with its label, and is a move itself', async () => {
  const { app, profile, undo, auditEntries, app_id } = await openWithMove()
  const [move] = (await profile()).link_history
  expect(move).toMatchObject({ from_app_user_id: 'ann', to_app_user_id: 'bob', can_undo: true })
  expect(await undo(move?.id)).toMatchObject({
    status: 200,
    body: {
      app_id,
      link: { app_user_id: 'ann', proved_app_user_id: 'ann', verification: 'verified', proofs: ['purchase'] },
    },
  })
  const { links, link_history } = await profile()
  expect(links).toMatchObject([{ app_user_id: 'ann', verification: 'verified', credential: 'none' }])
  expect(link_history).toMatchObject([
    {
      from_app_user_id: 'bob',
      to_app_user_id: 'ann',
      to_credential: 'owner',
      to_verification: 'verified',
      can_undo: true,
    },
    { id: move?.id, can_undo: false },
  ])
  expect(app.feed(['customer.moved']).at(-1)).toMatchObject({
    data: { user: { app_user_id: 'ann', verification: 'verified' }, from_app_user_id: 'bob' },
  })
  expect(auditEntries()).toEqual([{ action: 'move.undone', subject: move?.id }])
  expect(await undo(move?.id)).toMatchObject({ status: 409, body: { code: 'move_superseded' } })
  // And that can be undone, too.
  expect((await undo(link_history[0]?.id)).body).toMatchObject({
    link: { app_user_id: 'bob', proved_app_user_id: 'ann', verification: 'unverified' },
  })
})

test('the path that took the id of a move for that of a link names the new one, and undoes nothing', async () => {
  const { call, profile } = await openWithMove()
  const before = await profile()
  expect(before).toMatchObject({ links: [{ id: 'lnk_1' }], link_history: [{ id: 'mov_1' }] })
  for (const id of ['1', 'lnk_1', 'mov_1'])
    expect(await call('POST', `links/${id}/undo`)).toMatchObject({
      status: 410,
      body: { code: 'replaced', detail: expect.stringContaining('POST /api/v1/link-moves/{id}/undo') },
    })
  expect(await profile()).toEqual(before)
})

test('refuses to undo a move that is not the last change', async () => {
  const { attribute, profile, undo } = await openWithMove()
  const [move] = (await profile()).link_history
  await attribute('zoe')
  expect(await undo(move?.id)).toMatchObject({ status: 409, body: { code: 'move_superseded' } })
  expect((await profile()).links).toMatchObject([{ app_user_id: 'zoe' }])
})

test('refuses to undo an older move of the same user', async () => {
  const { attribute, profile, undo } = await openWithMove()
  const [move] = (await profile()).link_history
  await attribute('zoe')
  await attribute('bob')
  expect((await profile()).links).toMatchObject([{ app_user_id: 'bob' }])
  expect(await undo(move?.id)).toMatchObject({ status: 409, body: { code: 'move_superseded' } })
})

test('refuses to undo a move from an erased user', async () => {
  const { app, profile, undo, app_id } = await openWithMove()
  const [move] = (await profile()).link_history
  const { store, erasures } = app.windfall
  const request = { app_id, app_user_id: 'ann', asked_by: 'test' }
  const { id } = await store.commit(() => erasures.erase(request))
  // The history still names them, and must not bring them back.
  const early = await undo(move?.id)
  expect([409, 410]).toContain(early.status)
  await erasures.finished(id)
  expect(await undo(move?.id)).toMatchObject({ status: 409, body: { code: 'move_superseded' } })
  expect(JSON.stringify(await profile())).not.toContain('ann')
})

test('refuses to undo a move that would restore an erased user as proved', async () => {
  const { app, attribute, profile, undo, app_id } = await openWithMove()
  await attribute('zoe')
  // Purchases that a user holds are unlinked first, those that they held before later.
  await attribute('ann', { originalTransactionId: '200' })
  const [move] = (await profile()).link_history
  expect(move).toMatchObject({ from_app_user_id: 'bob', to_app_user_id: 'zoe' })
  const { store, erasures } = app.windfall
  // In one batch, so that the erasure has begun and has not come to this link.
  const begun = store.commit(() => erasures.erase({ app_id, app_user_id: 'ann', asked_by: 'test' }))
  expect(await undo(move?.id)).toMatchObject({ status: 410, body: { code: 'forgotten' } })
  await erasures.finished((await begun).id)
  expect((await profile()).links).toMatchObject([{ app_user_id: 'zoe' }])
})

test.each(['mov_0', 'mov_999', 'abc', '-1', '1', 'lnk_1', 'mov_1x'])('%s is no move', async (id) => {
  const { undo } = await openWithMove()
  expect(await undo(id)).toMatchObject({ status: 404, body: { code: 'unknown_move' } })
})
