/** The line of a message that says what comes next, which has only what Apple reported. */
import { expect, test } from 'vitest'
import type { EventType } from '../../../src/events/vocabulary.ts'
import { openAlertingApp, purchase } from '../alerting.ts'

const DAY = 86_400_000
const TRIAL = { offerType: 1, offerDiscountType: 'FREE_TRIAL', price: 0 }
const PLACE = 'Lantern Pro Monthly · com.example.lantern'

type Given = Omit<Parameters<typeof purchase>[0], 'app'> & { event: EventType; time_zone?: string }

/** The title and the second line of the message about an event, with and without amounts. */
async function messageAbout({ event, time_zone = 'UTC', ...notification }: Given) {
  const app = await openAlertingApp()
  const { organizations, store } = app.windfall
  await store.commit(() => organizations.setTimeZone(app.organization, time_zone))
  await app.channel('lock', { hides_amounts: true })
  await app.rule('cancellation', { types: [event] })
  await purchase({ app, ...notification })
  await app.settle(2_000)
  const [shown, hidden] = ['phone', 'lock'].map((name) => {
    const [message] = app.got(name)
    return { title: message?.title, lines: message?.body.split('\n'), fields: message?.fields }
  })
  const next = shown?.fields?.find(({ label }) => label === 'Next')?.value
  return {
    title: shown?.title,
    first: shown?.lines?.[0],
    next,
    shown: shown?.lines?.[1],
    hidden: hidden?.lines?.[1],
  }
}

const trial = {
  event: 'trial.started',
  type: 'SUBSCRIBED',
  subtype: 'INITIAL_BUY',
  transaction: TRIAL,
} as const

test('a trial says what it will pay and when', async () => {
  expect(await messageAbout({ ...trial, renewal: { renewalPrice: 9_990 } })).toMatchObject({
    title: '🌱 Trial started',
    first: PLACE,
    shown: 'Then $9.99 on Jul 1',
    next: 'Then $9.99 on Jul 1',
    hidden: 'Trial until Jul 1',
  })
})

test('a trial that continues with another product names it, and a date of another year has its year', async () => {
  const expiresDate = Date.UTC(2027, 0, 2, 3)
  const message = await messageAbout({
    ...trial,
    time_zone: 'America/Los_Angeles',
    transaction: { ...TRIAL, currency: 'EUR', expiresDate },
    renewal: { autoRenewProductId: 'lantern.pro.yearly', renewalPrice: 49_990, currency: 'EUR' },
  })
  expect(message.shown).toBe('Then €49.99 for Lantern Pro Yearly on Jan 1, 2027')
})

test('a trial of which Apple has not reported the price says when it ends', async () => {
  expect((await messageAbout(trial)).shown).toBe('Trial until Jul 1')
})

test('a trial whose renewal is off says so', async () => {
  const renewal = { autoRenewStatus: 0, renewalPrice: undefined }
  expect((await messageAbout({ ...trial, renewal })).shown).toBe('Renewal is off, access until Jul 1')
})

const cancellation = {
  event: 'subscription.renewal_disabled',
  type: 'DID_CHANGE_RENEWAL_STATUS',
  subtype: 'AUTO_RENEW_DISABLED',
  renewal: { autoRenewStatus: 0, renewalPrice: undefined },
} as const

test('a renewal that is turned off says until when there is access', async () => {
  expect(await messageAbout(cancellation)).toMatchObject({
    title: '👋 $4.99 · Renewal turned off',
    shown: 'Access until Jul 1',
    hidden: 'Access until Jul 1',
  })
})

test('access lasts until the end of a commitment, and an end that has passed is left out', async () => {
  const commitment = {
    commitmentExpiresDate: Date.UTC(2027, 4, 1),
    billingPeriodNumber: 1,
    totalBillingPeriods: 12,
  }
  const transaction = { billingPlanType: 'MONTHLY', commitmentInfo: commitment }
  expect((await messageAbout({ ...cancellation, transaction })).shown).toBe('Access until May 1, 2027')
  const passed = await messageAbout({ ...cancellation, transaction: { expiresDate: Date.UTC(2026, 4, 31) } })
  expect(passed.shown).toBe('🇺🇸 United States')
})

test('a grace period says until when it lasts', async () => {
  const expiresDate = Date.UTC(2026, 4, 31)
  const message = await messageAbout({
    event: 'subscription.grace_started',
    type: 'DID_FAIL_TO_RENEW',
    subtype: 'GRACE_PERIOD',
    transaction: { purchaseDate: expiresDate - 30 * DAY, expiresDate },
    renewal: { isInBillingRetryPeriod: true, gracePeriodExpiresDate: Date.UTC(2026, 5, 16) },
  })
  expect(message.shown).toBe('Grace period until Jun 16')
})

test('several of one product are one purchase with their number', async () => {
  const message = await messageAbout({
    event: 'purchase.made',
    type: 'ONE_TIME_CHARGE',
    transaction: { type: 'Consumable', productId: 'lantern.coins100', quantity: 3, expiresDate: undefined },
  })
  expect(message.first).toBe('Lantern Coins100 × 3 · com.example.lantern')
})

const increase = {
  event: 'subscription.price_increase_asked',
  type: 'PRICE_INCREASE',
  subtype: 'PENDING',
  renewal: { renewalPrice: 6_990, priceIncreaseStatus: 0 },
} as const

test('a higher price says the old one, the new one and when it begins', async () => {
  expect(await messageAbout(increase)).toMatchObject({
    title: '🏷️ Price increase awaits consent',
    shown: '$4.99 → $6.99 from Jul 1',
    hidden: 'From Jul 1',
  })
})

test('the price of an offer is no old price, and a new price that Apple has not reported is left out', async () => {
  const transaction = { offerType: 1, offerDiscountType: 'PAY_AS_YOU_GO', price: 990 }
  expect((await messageAbout({ ...increase, transaction })).shown).toBe('$6.99 from Jul 1')
  expect((await messageAbout({ ...increase, renewal: { renewalPrice: 4_990 } })).shown).toBe(
    '🇺🇸 United States',
  )
})
