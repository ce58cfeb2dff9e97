/** Several rules about one payment, and messages of one second: one message a channel, in the order of the events. */
import { expect, test } from 'vitest'
import type { TemplateName } from '../../src/alerts/rules/templates.ts'
import { type AlertingApp, finishImport, openAlertingApp, openLimited, purchase } from './alerting.ts'

const HOUR = 3_600_000
const FIRST = { type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' }
const titles = (app: AlertingApp, channel?: string): string[] => app.got(channel).map(({ title }) => title)

test('a payment that meets four rules is one message under the most telling title, whatever their order', async () => {
  const templates: TemplateName[] = ['sale', 'new_subscriber', 'big_sale', 'first_in_country']
  for (const order of [templates, templates.toReversed()]) {
    const app = await openAlertingApp()
    await finishImport(app)
    for (const template of order) await app.rule(template, { minimum_milli: null })
    await purchase({ app, ...FIRST, transaction: { storefront: 'JPN', price: 600_000, currency: 'JPY' } })
    await app.settle(2_000)
    await app.settle(HOUR)
    expect(titles(app)).toEqual(['🌍 ¥600 · First sale in Japan'])
  }
})

test('each channel gets one message: that of the rule that reports to it', async () => {
  const app = await openAlertingApp()
  await app.channel('other')
  const [phone] = app.alerts.channels.list()
  await app.rule('sale')
  await app.rule('new_subscriber', {}, { channels: [phone?.id ?? ''] })
  await purchase({ app, ...FIRST })
  await app.settle(2_000)
  for (const channel of ['phone', 'other'])
    expect(titles(app, channel)).toEqual(['🎉 $4.99 · New subscriber'])
  const [dropped, ...others] = app.windfall.store
    .prepare<[], { words: string }>("select words from alert_sends where state = 'dropped'")
    .all()
  expect(dropped?.words).toMatch(/^The rule “new_subscriber .*” reports it\.$/)
  expect(others).toEqual([])
})

test('what a channel was told is not told again by a rule that meets it later', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  await purchase({ app, ...FIRST })
  await app.settle(2_000)
  const late = await app.rule('new_subscriber', {}, { cursor: 0 })
  await app.settle(2_000)
  expect(titles(app)).toHaveLength(1)
  expect(app.alerts.rules.get(late.id)?.cursor).toBeGreaterThan(0)
})

test('a payment in a summary of one rule is not a message of another', async () => {
  const app = await openAlertingApp()
  await app.rule('new_subscriber', { per_hour: 1 })
  await app.rule('sale')
  for (let n = 0; n < 2; n += 1) {
    await purchase({ app, ...FIRST })
    await app.settle(2_000)
  }
  expect(titles(app)).toHaveLength(1)
  await app.settle(HOUR)
  expect(titles(app)).toHaveLength(2)
})

test('two rules about the same refund or the same cancellation send one message of it', async () => {
  const app = await openAlertingApp()
  await app.rule('refund')
  await app.rule('cancellation')
  await app.rule('billing_failure', { types: ['subscription.refunded', 'subscription.renewal_disabled'] })
  const transactionId = await purchase({ app })
  const ids = { transactionId, originalTransactionId: transactionId }
  app.clock.turn(1_000)
  await purchase({ app, type: 'REFUND', transaction: { ...ids, revocationDate: app.clock() } })
  await purchase({ app, type: 'DID_CHANGE_RENEWAL_STATUS', subtype: 'AUTO_RENEW_DISABLED', transaction: ids })
  await app.settle(2_000)
  expect(titles(app)).toEqual(['↩️ -$4.99 · Refund', expect.stringContaining('Renewal turned off')])
})

test('the start of a trial and its conversion are two messages of a rule about both', async () => {
  const app = await openAlertingApp()
  await app.rule('new_subscriber', { types: ['trial.started', 'trial.converted'] })
  const ids = { originalTransactionId: '2000000711000001' }
  const trial = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 }
  const expiresDate = app.clock() + HOUR
  const start = { ...ids, ...trial, transactionId: ids.originalTransactionId, expiresDate }
  await purchase({ app, ...FIRST, transaction: start })
  await app.settle(2_000)
  await app.settle(HOUR)
  await purchase({ app, transaction: { ...ids, transactionId: '2000000711000002' } })
  await app.settle(2_000)
  expect(titles(app)).toEqual([
    expect.stringContaining('Trial started'),
    expect.stringContaining('Trial converted'),
  ])
})

test('the messages of one second reach a limited channel in the order of their events', async () => {
  const { app, inChat } = await openLimited()
  for (const template of ['refund', 'billing_failure', 'sale'] as const) await app.rule(template)
  const wanted: string[] = []
  for (let n = 0; n < 3; n += 1) {
    const transactionId = await purchase({ app, ...FIRST })
    const ids = { transactionId, originalTransactionId: transactionId }
    await purchase({ app, type: 'DID_FAIL_TO_RENEW', transaction: ids })
    wanted.push('🎉 $4.99 · New subscriber', '💳 $4.99 · Payment failed')
  }
  await app.settle(2_000)
  for (let n = 0; n < 12; n += 1) await app.settle(1_001)
  expect(inChat()).toEqual(wanted)
})

test('hundreds of messages that wait for a limited channel do not keep a newer one from another channel', async () => {
  const { app, inChat } = await openLimited()
  const { channels } = app.alerts
  const [phone, chat] = channels.list()
  await app.rule('sale', {}, { channels: [chat?.id ?? ''] })
  for (let n = 0; n < 150; n += 1) await purchase({ app })
  await app.settle(2_000)
  await app.rule('sale', {}, { channels: [phone?.id ?? ''] })
  await purchase({ app })
  await app.settle(2_000)
  expect([inChat().length, app.got().length]).toEqual([2, 1])
})
