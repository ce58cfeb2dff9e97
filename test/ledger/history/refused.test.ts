import { expect, test } from 'vitest'
import { verifyTransaction } from '../../../src/apple/notification.ts'
import { verifyRenewal } from '../../../src/apple/subscription.ts'
import { authorityFrom, issueChain } from '../../../src/demo/signing/authority.ts'
import { dataBody, NOW, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { sharedAuthority } from '../../helpers.ts'
import { connectTo, holdCommits, openShop } from './connected_shop.ts'
import type { Answer } from './fault_proxy.ts'

async function opened(logged: string[]) {
  const shop = await openShop({ subscribers: 12, days: 40 })
  const app = await connectTo(shop, { logged })
  return { shop, app, refused: app.windfall.arrivals.refused }
}

/** Inserts texts at the beginning of a list in the answer. */
function put(answer: Answer, list: string, items: unknown[]): Answer {
  const there = answer.json[list]
  return { ...answer, json: { ...answer.json, [list]: [...items, ...(Array.isArray(there) ? there : [])] } }
}

/** Foreign texts in an app's history: signed by a stranger, of another app, of the sandbox, of another kind. */
async function strangers(bundleId: string) {
  const { sign } = await sharedAuthority()
  const stranger = authorityFrom(await issueChain({ now: NOW }))
  const notice = (data: object, uuid: string) =>
    outerPayload(dataBody({ bundleId, ...data }), { notificationType: 'TEST', notificationUUID: uuid })
  return {
    notifications: [
      stranger.sign(notice({}, 'forged')),
      sign(notice({ bundleId: 'com.example.other' }, 'foreign')),
      sign(notice({ environment: 'Sandbox' }, 'sandbox')),
      sign(notice({ appAppleId: 42 }, 'other apple id')),
      sign(transactionPayload({ bundleId })),
      'junk',
    ],
    transactions: [
      stranger.sign(transactionPayload({ bundleId, transactionId: '1' })),
      sign(transactionPayload({ bundleId: 'com.example.other', transactionId: '2' })),
      sign(transactionPayload({ bundleId, environment: 'Sandbox', transactionId: '3' })),
      sign(notice({}, 'no transaction')),
    ],
  }
}

test('refuses and logs forged and foreign texts anywhere in a page, and reads the rest', async () => {
  const logged: string[] = []
  const { shop, app, refused } = await opened(logged)
  const { bundle_id = '' } = shop.apps.find((one) => one.bundle_id.endsWith('tides')) ?? {}
  const foreign = await strangers(bundle_id)
  const [appRow] = app.windfall.apps.byBundle(bundle_id)
  shop.production.intercept = ({ path }, answer) => {
    if (path.endsWith('/notifications/history')) {
      const items = foreign.notifications.map((signedPayload) => ({ signedPayload }))
      return put(answer, 'notificationHistory', items)
    }
    return path.includes('/v2/history/') ? put(answer, 'signedTransactions', foreign.transactions) : answer
  }
  await app.windfall.history.backfill(appRow)
  expect(holdCommits(app)).toEqual(shop.shown().filter((name) => name.startsWith(`${bundle_id} `)))
  const codes = refused.list().map(({ reason }) => reason)
  expect(codes.toSorted()).toEqual(
    [
      'root',
      'mismatch',
      'mismatch',
      'mismatch',
      'not_a_notification',
      'not_a_jws',
      'root',
      'mismatch',
      'mismatch',
      'payload',
    ].toSorted(),
  )
  expect(refused.raw(refused.list().at(-1)?.id ?? 0)).not.toBeNull()
  const [row] = app.windfall.history.progress().filter((one) => one.bundle_id === bundle_id)
  expect(row?.backfill).toMatchObject({ stage: 'done', problem: null })
  expect(row?.backfill?.refused).toBeGreaterThan(10)
  app.windfall.log.flush()
  const lines = logged
    .join('')
    .split('\n')
    .filter((line) => line.includes('history was refused'))
  expect(lines.length).toBe(10)
  expect(lines[0]).toContain(bundle_id)
})

test('reconciliation skips refused texts, and they are not a gap', async () => {
  const { shop, app } = await opened([])
  const { history } = app.windfall
  await history.backfill()
  shop.clock.turn(60_000)
  const [{ bundle_id } = { bundle_id: '' }] = shop.apps
  const { notifications } = await strangers(bundle_id)
  shop.production.intercept = (_, answer) =>
    put(
      answer,
      'notificationHistory',
      notifications.map((signedPayload) => ({ signedPayload })),
    )
  const [appRow] = app.windfall.apps.byBundle(bundle_id)
  const [compared] = await history.reconcile({ apps: appRow ? [appRow] : [] })
  expect(compared).toMatchObject({ state: 'done', problem: null, refused: 6 })
  expect(app.feed(['gap.found'])).toEqual([])
})

test('refuses a status whose texts do not belong together, or to the subscription that it names', async () => {
  const { shop, app, refused } = await opened([])
  const { sign } = await sharedAuthority()
  const { windfall } = app
  const [{ bundle_id } = { bundle_id: '' }] = shop.apps
  const [appRow] = windfall.apps.byBundle(bundle_id)
  if (!appRow) throw new Error('the shop has no app')
  const old = {
    bundleId: bundle_id,
    expiresDate: NOW - 1000,
    transactionId: '77',
    originalTransactionId: '77',
  }
  const known = await verifyTransaction(windfall.verifier, sign(transactionPayload(old)))
  await windfall.store.commit(() =>
    windfall.ledger.applyTransaction(appRow, known, { origin: 'live', source: 'device' }),
  )
  const entry = (originalTransactionId: string, transaction: object, renewal: object) => ({
    status: 1,
    originalTransactionId,
    signedTransactionInfo: sign(transactionPayload({ ...old, signedDate: NOW + 1, ...transaction })),
    signedRenewalInfo: sign(renewalPayload({ originalTransactionId: '77', ...renewal })),
  })
  shop.production.intercept = ({ path }, answer) => {
    if (path.endsWith('/v2/history/77')) {
      const json = { revision: 'one', hasMore: false, bundleId: bundle_id, signedTransactions: [] }
      return { status: 200, headers: {}, json }
    }
    if (!path.endsWith('/subscriptions/77')) return answer
    const lastTransactions = [
      { ...entry('77', {}, {}), signedRenewalInfo: sign(transactionPayload(old)) },
      entry('78', {}, {}),
      entry('77', {}, { originalTransactionId: '79' }),
      entry('77', { environment: 'Sandbox' }, {}),
      entry('77', { bundleId: 'com.example.other' }, {}),
      entry('77', { price: 1 }, { autoRenewStatus: 0 }),
    ]
    return { status: 200, headers: {}, json: { data: [{ lastTransactions }] } }
  }
  await windfall.history.backfill(appRow)
  expect(refused.list().map(({ reason }) => reason)).toEqual(['mismatch', 'mismatch', 'mismatch', 'mismatch'])
  const rows = windfall.store
    .prepare('select price_milli, auto_renew_status from subscriptions where original_transaction_id = ?')
    .all('77')
  expect(rows).toEqual([{ price_milli: 1, auto_renew_status: 0 }])
})

test('the ledger refuses a status of another app, or with parts of two subscriptions', async () => {
  const { shop, app } = await opened([])
  const { sign } = await sharedAuthority()
  const { windfall } = app
  const status = async (bundleId: string, originalTransactionId: string) => ({
    transaction: await verifyTransaction(windfall.verifier, sign(transactionPayload({ bundleId }))),
    renewal: await verifyRenewal(windfall.verifier, sign(renewalPayload({ originalTransactionId }))),
  })
  const [appRow] = windfall.apps.byBundle(shop.apps[0]?.bundle_id ?? '')
  if (!appRow) throw new Error('the shop has no app')
  const wrong = [await status('com.example.other', '2000000000000001'), await status(appRow.bundle_id, '9')]
  for (const facts of wrong) {
    const applied = windfall.store.commit(() =>
      windfall.ledger.applyStatus(appRow, facts, { origin: 'backfill', source: 'status' }),
    )
    await expect(applied).rejects.toMatchObject({ code: 'mismatch' })
  }
  expect(windfall.store.prepare('select count(*) as n from signed_payloads').get()).toEqual({ n: 0 })
})
