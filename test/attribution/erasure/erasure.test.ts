import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { dataBody, NOW, outerPayload, renewalPayload, transactionPayload } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'
import { runs } from '../../random.ts'
import { anonymousRows, tracesOf } from '../traces.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE, android_package: ANDROID }, { bundle_id: OTHER }] })
})

const BUNDLE = 'com.example.lantern'
const OTHER = 'com.example.other'
const ANDROID = 'com.example.lantern.android'

const idOfApp = (bundle_id = BUNDLE) => app.windfall.apps.byBundle(bundle_id)[0]?.id ?? ''
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const lineage = (n: number): string => String(2_000_000_000_000_000 + n * 1_000)

const identify = (appUserId: string, more: object = {}) =>
  app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, ...more })
const attribute = (appUserId: string, n: number, more: object = {}) =>
  app.post('/api/sdk/v1/attribute', {
    appUserId,
    bundleId: BUNDLE,
    originalTransactionId: lineage(n),
    ...more,
  })
/** The signed transaction of a lineage, which proves a claim to it. */
const proof = (n: number) =>
  app.authority.sign(
    transactionPayload({ transactionId: `${lineage(n)}0`, originalTransactionId: lineage(n) }),
  )
let sent = 0
/** Apple reports a renewal: an event that names the current user of the lineage. */
function renew(n: number, changes: object = {}) {
  sent += 1
  const ids = { transactionId: `${lineage(n)}${sent}`, originalTransactionId: lineage(n) }
  const signed = { signedDate: NOW + sent, appTransactionId: `70400000${n}` }
  const body = dataBody({
    signedTransactionInfo: app.authority.sign(transactionPayload({ ...ids, ...signed, ...changes })),
    signedRenewalInfo: app.authority.sign(renewalPayload({ originalTransactionId: lineage(n), ...signed })),
  })
  const notificationUUID = `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`
  return app.notify(outerPayload(body, { notificationUUID, signedDate: NOW + sent }))
}

async function forget(app_user_id: string, more: { even_unknown?: boolean; app_id?: string } = {}) {
  const { store, erasures } = app.windfall
  const request = { app_id: idOfApp(), app_user_id, asked_by: 'test', ...more }
  const { id } = await store.commit(() => erasures.erase(request))
  return erasures.finished(id)
}

const events = () => app.feed(null).map(({ type, data }) => ({ type, data }))
const links = () =>
  app.windfall.store
    .prepare('select transaction_id, app_user_id, proved_app_user_id, proofs from links')
    .all()

describe('erasing a user', () => {
  test('removes them from everything but the ledger, and keeps the feed’s events in order', async () => {
    const device = { platform: 'ios', osVersion: '26.4.77', deviceModel: 'iPhone18,77', locale: 'fr_LU' }
    await identify('marie-77', { ...device, attributes: { email: 'marie@example.org', town: 'Vianden' } })
    await attribute('marie-77', 1)
    await renew(1)
    await attribute('paul-1', 1, { jws: proof(1) })
    await attribute('marie-77', 1)
    await attribute('marie-77', 2)
    await renew(2)
    const before = await anonymousRows(app.windfall)
    const texts = ['marie-77', '26.4.77', 'iPhone18,77', 'fr_LU', 'marie@example.org', 'Vianden']
    expect(tracesOf(app.windfall.store, texts).length).toBeGreaterThan(10)

    const erasure = await forget('marie-77')
    expect(erasure).toMatchObject({
      links: 2,
      scrubbed: 10,
      asked_at: NOW,
      finished_at: NOW,
      asked_by: 'test',
    })
    expect(tracesOf(app.windfall.store, texts)).toEqual([])
    expect(await anonymousRows(app.windfall)).toEqual(before)
    // Paul is proved to have bought the first; the second has no user.
    const paul = { app_user_id: 'paul-1', proved_app_user_id: 'paul-1', proofs: '["purchase"]' }
    expect(links()).toEqual([{ transaction_id: lineage(1), ...paul }])
    expect(events()).toMatchObject([
      { type: 'customer.identified', data: { bundle_id: BUNDLE, user: null, platform: null } },
      { type: 'customer.linked', data: { user: null, store: 'apple' } },
      { type: 'subscription.renewed', data: { user: null, product_id: 'lantern.pro.monthly' } },
      { type: 'customer.moved', data: { from_app_user_id: null, user: { app_user_id: 'paul-1' } } },
      {
        type: 'customer.moved',
        data: {
          from_app_user_id: 'paul-1',
          user: {
            app_user_id: null,
            proved_app_user_id: 'paul-1',
            verification: 'unverified',
            proofs: ['purchase'],
          },
        },
      },
      { type: 'customer.linked', data: { user: null } },
      { type: 'subscription.renewed', data: { user: null } },
    ])
    expect(app.feed(['customer.identified'])[0]?.cause).toBe(`forgotten/${erasure.id}`)
  })

  test('unlinks the purchases before the erasure answers', async () => {
    await attribute('marie-77', 1, { jws: proof(1) })
    const { store, erasures } = app.windfall
    const request = { app_id: idOfApp(), app_user_id: 'marie-77', asked_by: 'test' }
    const answer = await store.commit(() => ({ ...erasures.erase(request), left: links() }))
    expect(answer).toMatchObject({ links: 1, left: [], state: 'running' })
    await erasures.finished(answer.id)
    expect(erasures.list({ organization_id: null, apps: null, limit: 1, before: null })).toMatchObject([
      { links: 1, state: 'done' },
    ])
  })

  test('removes a former holder, or proved buyer, from the history of a purchase', async () => {
    await attribute('the-first', 1, { jws: proof(1) })
    await attribute('the-second', 1)
    await attribute('the-third', 1)
    await renew(1)
    await forget('the-first')
    expect(links()).toMatchObject([{ app_user_id: 'the-third', proved_app_user_id: null, proofs: '[]' }])
    await forget('the-second')
    expect(tracesOf(app.windfall.store, ['the-first', 'the-second'])).toEqual([])
    const [moved] = app.windfall.store.prepare('select * from link_history').all()
    expect(moved).toMatchObject({ from_app_user_id: null, from_proved_app_user_id: null, from_proofs: '[]' })
    expect(app.feed().at(-1)?.data.user).toMatchObject({ app_user_id: 'the-third', proved_app_user_id: null })
  })

  test('affects one app: the same id in another app, or a product of that name, stays', async () => {
    await identify('lantern.pro.monthly')
    await app.post('/api/sdk/v1/identify', { appUserId: 'lantern.pro.monthly', bundleId: OTHER })
    await attribute('lantern.pro.monthly', 1, { productId: 'lantern.pro.monthly' })
    await renew(1)
    await forget('lantern.pro.monthly')
    expect(app.windfall.attribution.users.get(idOfApp(OTHER), 'lantern.pro.monthly')).not.toBeNull()
    expect(app.feed().at(-1)?.data).toMatchObject({ user: null, product_id: 'lantern.pro.monthly' })
    const again = { appUserId: 'lantern.pro.monthly', bundleId: OTHER }
    expect((await app.post('/api/sdk/v1/identify', again)).status).toBe(200)
  })

  test('removes the token in their signed transactions from events; Apple’s own text stays', async () => {
    const token = 'ABCDEF01-2345-4678-9abc-def012345678'
    await attribute(token, 1)
    await renew(1, { appAccountToken: token.toLowerCase() })
    const before = await anonymousRows(app.windfall)
    await forget(token)
    expect(JSON.stringify(events()).toLowerCase()).not.toContain(token.toLowerCase())
    expect(await anonymousRows(app.windfall)).toEqual(before)
    expect(tracesOf(app.windfall.store, [token.toLowerCase()])).toContain(
      `transactions.app_account_token: ${token.toLowerCase()}`,
    )
  })

  test('removes them from a purchase on Android', async () => {
    const call = {
      bundleId: ANDROID,
      platform: 'android',
      purchaseToken: 'play.token',
      originalTransactionId: null,
    }
    await attribute('andrea', 1, call)
    await forget('andrea')
    expect(links()).toEqual([])
    expect(tracesOf(app.windfall.store, ['andrea'])).toEqual([])
  })
})

describe('a late call', () => {
  test('for an erased user is refused, by any caller, and stores nothing', async () => {
    await identify('the-gone')
    await forget('the-gone')
    const before = app.feed().length
    for (const headers of [{}, bearer(await app.key('publishable')), bearer(await app.key('secret'))]) {
      const call = { appUserId: 'the-gone', bundleId: BUNDLE }
      expect(await app.post('/api/sdk/v1/identify', call, headers)).toMatchObject({
        status: 410,
        body: { code: 'forgotten' },
      })
      const bought = { ...call, originalTransactionId: lineage(1), jws: proof(1) }
      expect(await app.post('/api/sdk/v1/attribute', bought, headers)).toMatchObject({ status: 410 })
    }
    expect(app.feed()).toHaveLength(before)
    expect(app.windfall.store.prepare('select * from transactions').all()).toEqual([])
    expect(tracesOf(app.windfall.store, ['the-gone'])).toEqual([])
    // Another user may hold the same purchase.
    await identify('the-gone-1')
    expect((await attribute('the-gone-1', 1)).status).toBe(200)
  })

  test('is refused immediately, while the rest is still being scrubbed', async () => {
    await identify('the-gone')
    const { store, erasures } = app.windfall
    const { id } = await store.commit(() =>
      erasures.erase({ app_id: idOfApp(), app_user_id: 'the-gone', asked_by: 'test' }),
    )
    const late = identify('the-gone')
    expect((await late).status).toBe(410)
    await erasures.finished(id)
  })

  test('is accepted again once the tombstone is lifted, and the user is new', async () => {
    await identify('the-back', { attributes: { plan: 'pro' } })
    await forget('the-back')
    const { store, erasures, attribution } = app.windfall
    await store.commit(() => erasures.lift(idOfApp(), 'the-back'))
    expect((await identify('the-back')).status).toBe(200)
    expect((await attribute('the-back', 1)).status).toBe(200)
    expect(attribution.users.get(idOfApp(), 'the-back')).toMatchObject({ attributes: '{}' })
    expect(app.feed().map(({ type, data }) => [type, data.user && 'named'])).toEqual([
      ['customer.identified', null],
      ['customer.identified', 'named'],
      ['customer.linked', 'named'],
    ])
    await forget('the-back')
    expect((await identify('the-back')).status).toBe(410)
    expect(tracesOf(app.windfall.store, ['the-back'])).toEqual([])
  })
})

test('erasing is idempotent; refuses an unknown user, or blocks the id in advance', async () => {
  const { store, erasures } = app.windfall
  await identify('the-one')
  const first = await forget('the-one')
  app.clock.turn(60_000)
  expect(await forget('the-one')).toEqual(first)
  await expect(forget('the-two')).rejects.toMatchObject({ status: 404, code: 'unknown_user' })
  await expect(forget('the-one', { app_id: idOfApp(OTHER) })).rejects.toMatchObject({ code: 'unknown_user' })
  await expect(store.commit(() => erasures.lift(idOfApp(), 'the-two'))).rejects.toMatchObject({
    status: 404,
    code: 'not_forgotten',
  })
  const second = await forget('the-two', { even_unknown: true })
  expect((await identify('the-two')).status).toBe(410)
  const all = { organization_id: null, apps: null, limit: 10, before: null }
  expect(erasures.list(all)).toEqual([second, first])
  expect(erasures.list({ ...all, limit: 1, before: second.id })).toEqual([first])
  expect(erasures.list({ ...all, apps: [idOfApp(OTHER)] })).toEqual([])
  expect(
    tracesOf(store, ['the-one', 'the-two']).filter((trace) => !/sqlite_schema|\.db/.test(trace)),
  ).toEqual([])
})

test('erasing calls listeners and scrubbers of other modules', async () => {
  const { store, erasures } = app.windfall
  const heard: object[] = []
  erasures.onErase((person) => heard.push(person))
  erasures.addScrubber({
    step: 'more',
    end: () => 3,
    findRows: ({ app_user_id }, after) => ({
      reached: after + 1,
      changed: after === 1 ? 1 : 0,
      apply: () => heard.push([app_user_id, after]),
    }),
  })
  await identify('the-one')
  const { id, scrubbed } = await forget('the-one')
  expect(scrubbed).toBe(2)
  const person = { app_id: idOfApp(), app_user_id: 'the-one', erasure_id: id }
  expect(heard).toEqual([person, ['the-one', 1], ['the-one', 2]])
  expect(store.prepare('select step, app_user_id from erasures').all()).toEqual([
    { step: 'more', app_user_id: null },
  ])
})

test('SQLite’s statistics keep no sample of an erased user', async () => {
  const { store } = app.windfall
  for (let n = 0; n < 8; n += 1) await attribute(`sampled-${n}`, n)
  store.prepare('analyze').run()
  const inSamples = (trace: string) => trace.startsWith('sqlite_stat4.sample')
  expect(tracesOf(store, ['sampled-3']).filter(inSamples).length).toBeGreaterThan(0)
  await forget('sampled-3')
  expect(tracesOf(store, ['sampled-3'])).toEqual([])
  expect(tracesOf(store, ['sampled-4']).filter(inSamples).length).toBeGreaterThan(0)
})

/** The files that a process killed now leaves on the disk. */
function snapshot(): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  mkdirSync(join(path, 'data'))
  for (const name of ['windfall.db', 'windfall.db-wal']) {
    const from = join(app.folder, 'data', name)
    if (existsSync(from)) copyFileSync(from, join(path, 'data', name))
  }
  return path
}

test('an erasure finishes at the next start after a kill at any moment', async () => {
  for (let n = 0; n < 60; n += 1) {
    await attribute(n % 2 === 0 ? 'the-leaver' : `other-${n}`, n)
    if (n % 3 === 0) await attribute(`later-${n}`, n)
  }
  await identify('the-leaver', { attributes: { secret: 'hushhush' } })
  for (let n = 0; n < 600; n += 1) await identify(`crowd-${n}`)
  const { store, erasures } = app.windfall
  const before = await anonymousRows(app.windfall)
  const { id } = await store.commit(() =>
    erasures.erase({ app_id: idOfApp(), app_user_id: 'the-leaver', asked_by: 'test' }),
  )
  const killed = [snapshot()]
  const done = erasures.finished(id)
  let isDone = false
  void done.then(() => {
    isDone = true
  })
  while (!isDone) {
    await new Promise(setImmediate)
    if (!isDone) killed.push(snapshot())
  }
  const right = await done
  expect(killed.length).toBeGreaterThan(5)
  for (const folder of killed) {
    const again = await openTestApp({ folder, apps: [], clock: app.clock })
    expect(await again.windfall.erasures.finished(id)).toEqual(right)
    expect(tracesOf(again.windfall.store, ['the-leaver', 'hushhush'])).toEqual([])
    expect(await anonymousRows(again.windfall)).toEqual(before)
    const late = await again.post('/api/sdk/v1/identify', { appUserId: 'the-leaver', bundleId: BUNDLE })
    expect(late.status).toBe(410)
    await again.close()
  }
})

test('an erasure reports when it is stopped, and continues at the next start', async () => {
  await identify('the-leaver')
  for (let n = 0; n < 800; n += 1) await identify(`crowd-${n}`)
  const { store, erasures } = app.windfall
  const { id } = await store.commit(() =>
    erasures.erase({ app_id: idOfApp(), app_user_id: 'the-leaver', asked_by: 'test' }),
  )
  await expect(store.commit(() => erasures.lift(idOfApp(), 'the-leaver'))).rejects.toMatchObject({
    status: 409,
    code: 'erasure_running',
  })
  const cutOff = erasures.finished(id)
  const refused = expect(cutOff).rejects.toMatchObject({ status: 503, code: 'store_closing' })
  await erasures.close()
  await refused
  expect(store.prepare('select app_user_id from erasures').all()).toEqual([{ app_user_id: 'the-leaver' }])
  const again = await openTestApp({ folder: snapshot(), apps: [], clock: app.clock })
  expect((await again.windfall.erasures.finished(id)).finished_at).toBe(NOW)
  expect(tracesOf(again.windfall.store, ['the-leaver'])).toEqual([])
})

/** Long enough not to match by chance, with characters that have several encodings. */
const text = fc
  .tuple(fc.stringMatching(/^[a-z0-9]{12}$/), fc.string({ unit: 'binary', maxLength: 6 }), fc.nat(9))
  .map(([word, odd, digit]) => `${word}${odd.replaceAll('\u0000', '')}${digit}`)
/** The same without the characters that are refused in ids. */
const userId = text.map((one) => one.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''))
const call = fc.oneof(
  fc.record({
    kind: fc.constant('identify' as const),
    user: fc.nat(3),
    attributes: fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc
        .tuple(text, fc.nat(8))
        .map(([word, times]) => word.repeat(times * 6))
        .filter((value) => value.length <= 1_024 && value !== ''),
    ),
  }),
  fc.record({
    kind: fc.constant('attribute' as const),
    user: fc.nat(3),
    n: fc.nat(4),
    isProved: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('renew' as const), n: fc.nat(4) }),
  fc.record({ kind: fc.constant('reopen' as const) }),
)
const history = fc.record({
  users: fc.uniqueArray(userId, { minLength: 4, maxLength: 4 }),
  calls: fc.array(call, { minLength: 5, maxLength: 40 }),
  forgottenUsers: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 4 }),
})

type Call = typeof call extends fc.Arbitrary<infer One> ? One : never

/** Makes one call. Returns what it says about its user. */
async function make(one: Call, users: readonly string[], reopen: () => Promise<void>): Promise<string[]> {
  if (one.kind === 'renew') await renew(one.n)
  if (one.kind === 'reopen') await reopen()
  if (one.kind === 'renew' || one.kind === 'reopen') return []
  const user = users[one.user] ?? ''
  const answer =
    one.kind === 'identify'
      ? await identify(user, { attributes: one.attributes })
      : await attribute(user, one.n, one.isProved ? { jws: proof(one.n) } : {})
  expect(answer.status).toBe(200)
  return one.kind === 'identify' ? Object.values(one.attributes) : []
}

/** The long form takes 70 s on an idle machine. */
const LONG_TIMEOUT_MS = 300_000

test(
  'after any history, no trace of erased users remains, and the ledger is unchanged',
  async () => {
    const property = fc.asyncProperty(history, async ({ users, calls, forgottenUsers }) => {
      const folder = temporaryFolder()
      const first = app
      const options = { folder: folder.path, apps: [{ bundle_id: BUNDLE }] }
      app = await openTestApp(options)
      const reopen = async () => {
        await app.close()
        app = await openTestApp(options)
      }
      const textsByUser = users.map((user) => [user])
      for (const one of calls) {
        const more = await make(one, users, reopen)
        if ('user' in one) textsByUser[one.user]?.push(...more)
      }
      const before = await anonymousRows(app.windfall)
      for (const user of forgottenUsers) {
        await forget(users[user] ?? '', { even_unknown: true })
        expect((await identify(users[user] ?? '')).status).toBe(410)
      }
      const texts = forgottenUsers.flatMap((user) => textsByUser[user] ?? [])
      expect(tracesOf(app.windfall.store, texts)).toEqual([])
      expect(await anonymousRows(app.windfall)).toEqual(before)
      await app.close()
      app = first
      folder.remove()
    })
    await fc.assert(property, runs(30, 1_000))
  },
  LONG_TIMEOUT_MS,
)
