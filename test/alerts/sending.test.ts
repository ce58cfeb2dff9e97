import { expect, test } from 'vitest'
import { expectErrors } from '../guards/error_lines.ts'
import { openAlertingApp, purchase } from './alerting.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('one payment is one message, with the money, the product, the country and the app', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  await purchase({
    app,
    type: 'SUBSCRIBED',
    subtype: 'INITIAL_BUY',
    transaction: { price: 49_990, currency: 'EUR', storefront: 'DEU' },
  })
  await app.settle()
  expect(app.got()).toEqual([])
  await app.settle(2_000)
  expect(app.got()).toMatchObject([
    {
      title: '🎉 €49.99 · New subscriber',
      body: 'Lantern Pro Monthly · com.example.lantern\n🇩🇪 Germany\nfirst payment',
      urgency: 'normal',
      url: expect.stringMatching(/\/customers\/cus_/),
    },
  ])
  await app.settle(HOUR)
  expect(app.got()).toHaveLength(1)
})

test('a lifetime value of zero is reported after a refund, and not with a trial', async () => {
  const app = await openAlertingApp()
  await app.rule('trial')
  await app.rule('refund')
  const lastBody = async () => {
    await app.windfall.metrics.whenCurrent()
    await app.settle(2_000)
    return app.got().at(-1)?.body
  }
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 }
  await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction: trial })
  expect(await lastBody()).toBe(
    'Lantern Pro Monthly · com.example.lantern\nTrial until Jul 1\n🇺🇸 United States',
  )
  const transactionId = await purchase({ app })
  // Apple signs the refund later than the purchase; of two signatures of one time either may win.
  app.clock.turn(1_000)
  const refund = { transactionId, originalTransactionId: transactionId, revocationDate: app.clock() }
  await purchase({ app, type: 'REFUND', transaction: refund })
  expect(await lastBody()).toMatch(/lifetime \$0\.00$/)
})

test('a message about one payment says so, and one about a refund, a trial or several messages does not', async () => {
  const app = await openAlertingApp()
  for (const template of ['sale', 'refund', 'trial'] as const) await app.rule(template, { per_hour: 1 })
  const transactionId = await purchase({ app })
  app.clock.turn(1_000)
  const refund = { transactionId, originalTransactionId: transactionId, revocationDate: app.clock() }
  await purchase({ app, type: 'REFUND', transaction: refund })
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 }
  await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction: trial })
  await app.settle(2_000)
  await purchase({ app })
  await app.settle(2_000)
  await app.settle(5 * MINUTE)
  expect(Object.fromEntries(app.got().map(({ title, is_payment }) => [title, is_payment]))).toEqual({
    '🔁 $4.99 · Renewal': true,
    '↩️ -$4.99 · Refund': false,
    '🌱 Trial started': false,
    '📬 1 sale · $4.99': false,
  })
})

test('what is no sale is not told: sandbox, family sharing, a price of zero, and what came with a backfill', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  for (const transaction of [
    { environment: 'Sandbox' },
    { inAppOwnershipType: 'FAMILY_SHARED' },
    { price: 0 },
  ])
    await purchase({ app, transaction })
  await app.settle(5_000)
  expect(app.got()).toEqual([])
})

test('amounts can be hidden for a channel', async () => {
  const app = await openAlertingApp()
  await app.channel('lock', { hides_amounts: true })
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()[0]?.title).toContain('$4.99')
  expect(JSON.stringify(app.got('lock'))).not.toMatch(/4\.99|\$/)
  expect(app.got('lock')).toHaveLength(1)
})

test('a rule tells only what its filters permit', async () => {
  const app = await openAlertingApp()
  await app.rule('sale', { countries: ['JPN'], products: ['lantern.pro.monthly'], minimum_milli: 4_000 })
  await purchase({ app, transaction: { storefront: 'USA' } })
  await purchase({ app, transaction: { storefront: 'JPN', price: 3_999 } })
  await purchase({ app, transaction: { storefront: 'JPN', productId: 'other' } })
  await purchase({ app, transaction: { storefront: 'JPN' } })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
})

test('a rule about payments and what happens to them later reports both, each refund and each change once', async () => {
  const app = await openAlertingApp()
  const types = ['subscription.started', 'subscription.renewal_disabled', 'subscription.refunded'] as const
  await app.rule('new_subscriber', { types: [...types] })
  const transactionId = await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  const ids = { transactionId, originalTransactionId: transactionId }
  const off = { type: 'DID_CHANGE_RENEWAL_STATUS', subtype: 'AUTO_RENEW_DISABLED' }
  const refund = { type: 'REFUND', transaction: { ...ids, revocationDate: app.clock(), revocationReason: 0 } }
  for (const next of [{ ...off, transaction: ids }, refund, refund]) {
    await app.settle(2_000)
    await purchase({ app, ...next })
  }
  await app.settle(2_000)
  expect(app.got().map(({ title }) => title)).toEqual([
    '🎉 $4.99 · New subscriber',
    expect.stringContaining('Renewal turned off'),
    '↩️ -$4.99 · Refund',
  ])
})

test('in quiet hours nothing is sent, and one summary comes at their end', async () => {
  const app = await openAlertingApp()
  await app.windfall.store.commit(() =>
    app.alerts.settings.change(app.organization.id, { quiet: { from: '11:00', until: '13:00' } }),
  )
  await app.rule('sale')
  for (let n = 0; n < 3; n += 1) await purchase({ app })
  await app.settle(2_000)
  await app.settle(HOUR - 3_000)
  expect(app.got()).toEqual([])
  await app.settle(1_000)
  expect(app.got()).toMatchObject([
    {
      title: '📬 3 sales · $14.97',
      body: expect.stringMatching(/^During your quiet hours\n(🔁 \$4\.99 · Renewal\n?){3}$/),
    },
  ])
})

test('a summary keeps the quiet hours of the rule whose messages it has', async () => {
  const app = await openAlertingApp()
  await app.rule('sale', { per_hour: 1, quiet: { from: '12:30', until: '15:00' } })
  for (let n = 0; n < 3; n += 1) await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  // The hour of the limit ends at 13:00.
  await app.settle(HOUR)
  await app.settle(HOUR)
  expect(app.got()).toHaveLength(1)
  await app.settle(HOUR)
  expect(app.got().slice(1)).toMatchObject([{ title: '📬 2 sales · $9.98' }])
})

test('a summary of rules whose quiet hours leave no time of the day is sent all the same', async () => {
  const app = await openAlertingApp()
  const rules = [await app.rule('sale', { per_hour: 1 }), await app.rule('new_subscriber', { per_hour: 1 })]
  for (let n = 0; n < 2; n += 1) {
    await purchase({ app })
    await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  }
  await app.settle(2_000)
  expect(app.got()).toHaveLength(2)
  const hours = [
    { from: '12:30', until: '00:30' },
    { from: '00:30', until: '12:30' },
  ]
  await app.windfall.store.commit(() => {
    for (const [index, { id }] of rules.entries())
      app.alerts.ruleAdministration.change(id, { settings: { quiet: hours[index] ?? 'none' } })
  })
  await app.settle(HOUR)
  expect(app.got().slice(2)).toMatchObject([{ title: '📬 2 sales · $9.98' }])
})

test('a mute holds everything until its end', async () => {
  const app = await openAlertingApp()
  const muted_until = app.clock() + HOUR
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { muted_until }))
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toEqual([])
  await app.settle(HOUR)
  expect(app.got()).toMatchObject([{ body: expect.stringContaining('While alerts were muted') }])
})

test('above the limit of a rule, messages are one summary after five minutes', async () => {
  const app = await openAlertingApp()
  await app.rule('sale', { per_hour: 2 })
  for (let n = 0; n < 5; n += 1) {
    await purchase({ app })
    await app.settle(MINUTE)
  }
  expect(app.got().map(({ title }) => title)).toEqual(Array(2).fill('🔁 $4.99 · Renewal'))
  await app.settle(HOUR)
  expect(app.got().at(-1)).toMatchObject({ title: '📬 3 sales · $14.97' })
  expect(app.got()).toHaveLength(3)
})

test('the limit of a rule holds for messages that are due at the same time', async () => {
  const app = await openAlertingApp()
  await app.rule('sale', { per_hour: 2 })
  for (let n = 0; n < 12; n += 1) await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(2)
  await app.settle(HOUR)
  expect(app.got().slice(2)).toMatchObject([{ title: '📬 10 sales · $49.90' }])
})

test('what Apple signed more than an hour ago comes as one summary, and a backfill is silent', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  for (const ago of [2, 3]) await purchase({ app, signed_at: app.clock() - ago * HOUR })
  await app.settle(2_000)
  expect(app.got()).toEqual([])
  await app.settle(MINUTE)
  expect(app.got()).toMatchObject([
    { title: '📬 2 sales · $9.98', body: expect.stringContaining('Recovered') },
  ])
})

test('a message that fails is sent again, and after 30 minutes it joins a summary', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  app.receiver.behave(() => 503)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  await app.settle(5_000)
  expect(app.got()).toHaveLength(2)
  await purchase({ app })
  await app.settle()
  await app.settle(31 * MINUTE)
  app.receiver.behave(() => 200)
  await app.settle(31 * MINUTE)
  await app.settle(MINUTE)
  const last = app.got().at(-1)
  expect(last).toMatchObject({
    title: '📬 2 sales · $9.98',
    body: expect.stringContaining('could not be sent'),
  })
  const count = app.got().length
  await app.settle(24 * HOUR)
  expect(app.got()).toHaveLength(count)
})

test('a dead channel is a finding, and the others go on', async () => {
  const app = await openAlertingApp()
  await app.channel('other')
  await app.rule('sale')
  app.receiver.behave(({ path }) => (path.endsWith('phone') ? 410 : 200))
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got('other')).toHaveLength(1)
  expect(app.alerts.findings()).toMatchObject([
    { state: 'warning', details: { title: 'Alerts do not reach phone' } },
  ])
  await purchase({ app })
  await app.settle(2_000)
  expect([app.got('phone').length, app.got('other').length]).toEqual([1, 2])
})

test('events that were told stay told after a restart', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  const { rules, messages } = app.alerts
  const [rule] = rules.list()
  await app.windfall.store.commit(() => rules.put({ ...(rule as NonNullable<typeof rule>), cursor: 0 }))
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  expect(messages.due(10, 1_000_000_000)).toEqual([])
})

test('a channel that cannot be read does not keep messages from the others', async () => {
  expectErrors('a channel failed')
  const app = await openAlertingApp()
  await app.channel('broken', { kind: 'discord', settings: {}, created_at: 0 })
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
})

test('a channel whose provider asked to wait is not used before that, also for messages that were due with the first', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  app.receiver.behave(({ index }, response) => {
    if (index > 0) return 200
    response.writeHead(429, { 'retry-after': '60' }).end()
    return undefined
  })
  for (let n = 0; n < 2; n += 1) await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  await purchase({ app })
  await app.settle(2_000)
  await app.settle(50_000)
  expect(app.got()).toHaveLength(1)
  await app.settle(10_000)
  expect(app.got()).toHaveLength(4)
})

test('after the clock was ahead, a channel neither waits for its provider nor for the limit of a rule', async () => {
  const DAYS = 24 * HOUR
  const app = await openAlertingApp()
  await app.rule('sale', { per_hour: 1 })
  app.clock.turn(3 * DAYS)
  await purchase({ app })
  await app.settle(2_000)
  app.receiver.behave((_, response) => {
    response.writeHead(429, { 'retry-after': '60' }).end()
    return undefined
  })
  await app.rule('new_subscriber')
  await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  await app.settle(2_000)
  app.receiver.behave(() => 200)
  app.clock.turn(-2 * DAYS)
  const before = app.got().length
  await purchase({ app })
  await app.settle(2_000)
  expect(
    app
      .got()
      .slice(before)
      .map(({ title }) => title),
  ).toEqual(['🔁 $4.99 · Renewal'])
})
