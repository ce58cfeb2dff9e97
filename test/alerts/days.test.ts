/**
 * Twelve days that were worked out by hand: what happened, and each message with its time. Times are those of Berlin,
 * whose clocks go forward on 29 March 2026 at 02:00 and back on 25 October 2026 at 03:00.
 */
import { expect, test } from 'vitest'
import type { TemplateName } from '../../src/alerts/rules/templates.ts'
import { handClock, openTestApp } from '../helpers.ts'
import { type AlertingApp, finishImport, openAlertingApp, purchase } from './alerting.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const BERLIN = { WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "Europe/Berlin" }]' }
const TRIAL = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0, transactionReason: 'PURCHASE' }

/** An instance at an instant, with one rule of each template and the quiet hours of the day. */
async function openDay(
  at: string,
  templates: readonly TemplateName[],
  quiet: { from: string; until: string } | null = null,
) {
  const app = await openAlertingApp({ env: BERLIN, clock: handClock(Date.parse(at)) })
  for (const template of templates) await app.rule(template)
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { quiet }))
  return app
}

/** Turns the clock to an instant, minute by minute, and returns the messages with the time at which each came. */
async function until(app: AlertingApp, at: string): Promise<string[]> {
  const before = app.got().length
  const times: string[] = []
  while (app.clock() < Date.parse(at)) {
    await app.settle(Math.min(MINUTE, Date.parse(at) - app.clock()))
    const now = new Date(app.clock()).toISOString().slice(11, 16)
    while (times.length < app.got().length - before) times.push(now)
  }
  return app
    .got()
    .slice(before)
    .map(({ title }, index) => `${times[index]} ${title}`)
}

test('1. a renewal at noon: one message, as soon as the events of two seconds are joined', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale'])
  await purchase({ app })
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual(['10:01 🔁 $4.99 · Renewal'])
})

test('2. the clocks go forward: quiet hours until 02:30, which does not exist, end at 03:00', async () => {
  // Sold at 23:00 on the 28th (22:00 UTC). 02:30 is skipped, so the hours end at 03:00, which is 01:00 UTC.
  const app = await openDay('2026-03-28T22:00:00Z', ['sale'], { from: '22:00', until: '02:30' })
  await purchase({ app })
  expect(await until(app, '2026-03-29T06:00:00Z')).toEqual(['01:00 📬 1 sale · $4.99'])
})

test('3. the clocks go back: quiet hours until 02:30, which comes twice, end at the first', async () => {
  // The first 02:30 is 00:30 UTC. A sale at the second 02:45 (01:45 UTC) is outside and is sent at once.
  const app = await openDay('2026-10-24T21:00:00Z', ['sale'], { from: '22:00', until: '02:30' })
  await purchase({ app })
  expect(await until(app, '2026-10-25T01:45:00Z')).toEqual(['00:30 📬 1 sale · $4.99'])
  await purchase({ app })
  expect(await until(app, '2026-10-25T06:00:00Z')).toEqual(['01:46 🔁 $4.99 · Renewal'])
})

test('4. a trial starts and converts a week later: the trial, then the payment with the name of the conversion', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale', 'trial'])
  const ids = { originalTransactionId: '2000000700000001' }
  const expiresDate = Date.parse('2026-06-08T10:00:00Z')
  const start = { ...ids, ...TRIAL, transactionId: ids.originalTransactionId, expiresDate }
  await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY', transaction: start })
  expect(await until(app, '2026-06-01T11:00:00Z')).toEqual(['10:01 🌱 Trial started'])
  app.clock.set(Date.parse('2026-06-08T10:00:00Z'))
  await purchase({ app, transaction: { ...ids, transactionId: '2000000700000002' } })
  expect(await until(app, '2026-06-08T11:00:00Z')).toEqual(['10:01 🎉 $4.99 · Trial converted'])
})

test('5. a refund: its own message, and none about a sale', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale', 'refund'])
  const id = await purchase({ app })
  expect(await until(app, '2026-06-01T11:00:00Z')).toEqual(['10:01 🔁 $4.99 · Renewal'])
  const transaction = {
    transactionId: id,
    originalTransactionId: id,
    revocationDate: app.clock(),
    revocationReason: 0,
  }
  await purchase({ app, type: 'REFUND', transaction })
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual([
    expect.stringMatching(/^11:0\d ↩️ -\$4\.99 · Refund$/),
  ])
})

test('6. eight sales in eight minutes, at most three an hour: three messages, and five in a summary five minutes after the first', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', [])
  await app.rule('sale', { per_hour: 3 })
  for (let number = 1; number <= 8; number += 1) {
    await purchase({ app })
    await until(app, new Date(app.clock() + MINUTE).toISOString())
  }
  expect(app.got()).toHaveLength(3)
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual(['10:09 📬 5 sales · $24.95'])
})

test('7. a payment fails and is recovered a day later', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale', 'billing_failure'])
  const ids = { originalTransactionId: '2000000700000011' }
  await purchase({
    app,
    type: 'SUBSCRIBED',
    subtype: 'INITIAL_BUY',
    transaction: { ...ids, transactionId: ids.originalTransactionId, transactionReason: 'PURCHASE' },
  })
  expect(await until(app, '2026-06-01T11:00:00Z')).toEqual(['10:01 🎉 $4.99 · New subscriber'])
  await purchase({
    app,
    type: 'DID_FAIL_TO_RENEW',
    transaction: { ...ids, transactionId: ids.originalTransactionId },
  })
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual(['11:01 💳 $4.99 · Payment failed'])
  app.clock.set(Date.parse('2026-06-02T10:00:00Z'))
  await purchase({
    app,
    type: 'DID_RENEW',
    subtype: 'BILLING_RECOVERY',
    transaction: { ...ids, transactionId: '2000000700000012' },
  })
  expect(await until(app, '2026-06-02T11:00:00Z')).toEqual(['10:01 💚 $4.99 · Payment recovered'])
})

test('8. the process ends right after Apple was answered: the sale is reported after the start, once', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale'])
  await purchase({ app })
  await app.windfall.close()
  expect(app.got()).toEqual([])
  const env = { ...BERLIN, WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  const { windfall } = await openTestApp({ folder: app.folder, clock: app.clock, env })
  await windfall.alerts.start()
  for (let minute = 0; minute < 5; minute += 1) {
    app.clock.turn(MINUTE)
    await windfall.alerts.follow()
    windfall.alerts.wake()
    await windfall.alerts.settled()
  }
  expect(app.got().map(({ title }) => title)).toEqual(['🔁 $4.99 · Renewal'])
})

test('9. Apple sends the same notification three times: one message', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale'])
  const id = await purchase({ app })
  for (const again of [1, 2]) {
    app.clock.turn(again * MINUTE)
    await purchase({
      app,
      transaction: {
        transactionId: id,
        originalTransactionId: id,
        purchaseDate: Date.parse('2026-06-01T10:00:00Z'),
        originalPurchaseDate: Date.parse('2026-06-01T10:00:00Z'),
      },
    })
  }
  await until(app, '2026-06-01T12:00:00Z')
  expect(app.got()).toHaveLength(1)
})

test('10. the first sale in Japan is one message for two rules, under the more telling title', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale', 'first_in_country'])
  await finishImport(app)
  const transaction = { storefront: 'JPN', price: 600_000, currency: 'JPY' }
  await purchase({ app, transaction })
  expect(await until(app, '2026-06-01T11:00:00Z')).toEqual(['10:01 🌍 ¥600 · First sale in Japan'])
  await purchase({ app, transaction })
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual(['11:01 🔁 ¥600 · Renewal'])
})

test('11. three sales that Apple signed three hours ago: one summary a minute after the first', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale'])
  for (let number = 0; number < 3; number += 1) await purchase({ app, signed_at: app.clock() - 3 * HOUR })
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual(['10:02 📬 3 sales · $14.97'])
})

test('12. a sale in the sandbox, a free one and a shared one: nothing', async () => {
  const app = await openDay('2026-06-01T10:00:00Z', ['sale', 'big_sale'])
  for (const transaction of [
    { environment: 'Sandbox' },
    { price: 0 },
    { inAppOwnershipType: 'FAMILY_SHARED' },
  ])
    await purchase({ app, transaction })
  expect(await until(app, '2026-06-01T12:00:00Z')).toEqual([])
})
