/** What summaries add up, when a rush is summed, and the total of the day in the message about a sale. */
import { expect, test } from 'vitest'
import { type AlertingApp, openAlertingApp, purchase } from './alerting.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FIRST = { type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' }
const ANNUAL = { productId: 'lantern.pro.annual', price: 49_990 }

let customers = 0

/** A customer of its own, who also has an identity of its own at Apple. */
const someone = (transaction: Record<string, unknown> = {}) => {
  customers += 1
  return { appTransactionId: String(70_000_000_000 + customers), ...transaction }
}

/** Sells several times at once. */
async function sell(app: AlertingApp, count: number, transaction: Record<string, unknown> = {}) {
  for (let n = 0; n < count; n += 1) await purchase({ app, ...FIRST, transaction: someone(transaction) })
}

/** The summaries that a channel got. */
const summariesIn = (app: AlertingApp, channel?: string) =>
  app.got(channel).filter(({ title }) => title.startsWith('📬'))

test('a rush is summed after five minutes by kind, with customers and the best product, and then hourly', async () => {
  const app = await openAlertingApp()
  await app.channel('lock', { hides_amounts: true })
  await app.rule('sale', { per_hour: 1 })
  await app.rule('refund')
  await app.rule('trial', { per_hour: 1 })
  await sell(app, 9)
  await sell(app, 3, ANNUAL)
  for (let n = 0; n < 4; n += 1) await purchase({ app, transaction: someone() })
  for (let n = 0; n < 2; n += 1) {
    const free = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 }
    await purchase({ app, ...FIRST, transaction: free })
  }
  await app.settle(2_000)
  expect(summariesIn(app)).toEqual([])
  await app.settle(5 * MINUTE)
  expect(summariesIn(app)).toMatchObject([
    {
      title: '📬 15 sales · $209.85 · 1 trial',
      body: [
        'Since the last message',
        '🎉 New subscriber × 11 · $189.89',
        '🔁 Renewal × 4 · $19.96',
        '🌱 Trial started × 1',
        '15 customers',
        'Best product: Lantern Pro Annual · 3 sales · $149.97',
      ].join('\n'),
    },
  ])
  expect(summariesIn(app, 'lock')).toMatchObject([
    {
      title: '📬 15 sales · 1 trial',
      body: expect.stringContaining('Best product: Lantern Pro Monthly · 12 sales'),
    },
  ])
  expect(JSON.stringify(app.got('lock'))).not.toMatch(/\$|9\.9/)
  await sell(app, 2)
  await app.settle(2_000)
  await app.settle(30 * MINUTE)
  expect(summariesIn(app)).toHaveLength(1)
  await app.settle(30 * MINUTE)
  expect(summariesIn(app).slice(1)).toMatchObject([{ title: '📬 2 sales · $9.98' }])
})

test('a rush after a quiet hour is summed after five minutes again', async () => {
  const app = await openAlertingApp()
  await app.rule('sale', { per_hour: 1 })
  for (let rush = 1; rush <= 2; rush += 1) {
    await sell(app, 3)
    await app.settle(2_000)
    await app.settle(5 * MINUTE)
    expect(summariesIn(app)).toHaveLength(rush)
    await app.settle(2 * HOUR)
  }
})

test('a summary says which amounts it does not add, and quotes trouble beside the sums', async () => {
  const app = await openAlertingApp()
  const muted_until = app.clock() + HOUR
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { muted_until }))
  await app.rule('sale')
  await app.rule('milestone')
  await sell(app, 8)
  await sell(app, 2, { currency: 'XTS', price: 1_000 })
  const id = await purchase({ app, transaction: someone() })
  await app.settle(2_000)
  await app.rule('refund')
  const refunded = { transactionId: id, originalTransactionId: id, revocationDate: app.clock() }
  await purchase({ app, type: 'REFUND', transaction: refunded })
  const [rule] = app.alerts.rules.list().filter(({ template }) => template === 'milestone')
  await app.windfall.store.commit(() => {
    const message = app.alerts.messages.add({
      organization_id: app.organization.id,
      rule_id: rule?.id ?? null,
      kind: 'milestone',
      key: `${rule?.id}/5000000`,
      content: {
        subject: {
          about: 'figures',
          template: 'milestone',
          figures: { currency: 'USD', threshold_milli: 5_000_000 },
        },
      },
      happened_at: app.clock(),
    })
    for (const channel of app.alerts.channels.list())
      app.alerts.messages.addSend(message?.id ?? '', channel.id, app.clock())
  })
  await app.settle(2_000)
  await app.settle(HOUR)
  expect(summariesIn(app)).toMatchObject([
    {
      title: '📬 11 sales · $44.91 · 1 refund · 1 other message',
      body: [
        'While alerts were muted',
        '🎉 New subscriber × 10 · $39.92',
        '🔁 Renewal × 1 · $4.99',
        '↩️ Refund × 1 · -$4.99',
        '11 customers',
        'Best product: Lantern Pro Monthly · 11 sales · $44.91',
        '2 amounts have no exchange rate yet and are not in the sums',
        '📈 MRR milestone · $5,000.00',
      ].join('\n'),
    },
  ])
})

test('a sale tells the day so far, in the time zone of the organization', async () => {
  const env = { WINDFALL_ORGANIZATIONS: '[{ slug = "default", time_zone = "Pacific/Kiritimati" }]' }
  const app = await openAlertingApp({ env })
  await app.channel('lock', { hides_amounts: true })
  await app.rule('sale')
  await app.rule('refund')
  const lastLine = async (channel?: string) => {
    await app.windfall.metrics.whenCurrent()
    await app.settle(2_000)
    return app.got(channel).at(-1)?.body.split('\n').at(-1)
  }
  // 2026-06-01T12:00Z is 02:00 there, and the days end at 10:00Z.
  await sell(app, 1)
  expect(await lastLine()).toBe('Today: $4.99 · 1 sale')
  app.clock.turn(HOUR)
  await sell(app, 1, ANNUAL)
  expect(await lastLine()).toBe('Today: $54.98 · 2 sales')
  expect(app.got('lock').at(-1)?.body.split('\n').at(-1)).toBe('Today: 2 sales')
  app.clock.turn(22 * HOUR)
  const id = await purchase({ app, ...FIRST })
  expect(await lastLine()).toBe('Today: $4.99 · 1 sale')
  app.clock.turn(1_000)
  const refunded = { transactionId: id, originalTransactionId: id, revocationDate: app.clock() }
  await purchase({ app, type: 'REFUND', transaction: refunded })
  expect(await lastLine()).not.toContain('Today')
})

test('a sale is silent about a day with an amount that has no exchange rate', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  await sell(app, 1, { currency: 'XTS', price: 1_000 })
  await app.windfall.metrics.whenCurrent()
  await sell(app, 1)
  await app.windfall.metrics.whenCurrent()
  await app.settle(2_000)
  expect(app.got()).toHaveLength(2)
  expect(JSON.stringify(app.got())).not.toContain('Today:')
})
