/**
 * Paid introductory offers in SUBSCRIPTION_EVENT are no trials. The rows of 5 October 2020 are those of a real account, as
 * far as they are of beginnings, payments and ends (appstore-sdk-go, a public project).
 */
import { expect, test } from 'vitest'
import { addDays } from '../../../src/days.ts'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { type Cells, DAY, level, subscriptionEvent } from '../../ledger/reports/samples.ts'

const PAY_AS_YOU_GO = { 'Subscription Offer Type': 'Pay as you go', 'Subscription Offer Duration': '2 Weeks' }
const UP_FRONT = { 'Subscription Offer Type': 'Pay Up Front', 'Subscription Offer Duration': '3 Months' }
const FREE = { 'Subscription Offer Type': 'Free Trial', 'Subscription Offer Duration': '3 Days' }
const START = 'Start Introductory Offer'
const PAID = 'Paid Subscription from Introductory Offer'
const RETRIED = 'Renewal from Billing Retry'

/** A number of events; `paid`: the consecutive paid periods. */
const row = (Event: string, paid: number, quantity: number, more: Cells = {}): Cells =>
  subscriptionEvent({
    Event,
    'Subscription Offer Type': ' ',
    'Subscription Offer Duration': ' ',
    'Subscription Offer Name': ' ',
    'Cancellation Reason': ' ',
    'Days Canceled': ' ',
    'Consecutive Paid Periods': String(paid),
    Quantity: String(quantity),
    ...more,
  })

/** What a day with these rows says about trials and first payments. */
async function figuresFrom(rows: readonly Cells[]) {
  const apple = await openApple()
  const app = await apple.openWindfall()
  apple.setReply('subscription_event', DAY, rows)
  // The churn rate also needs the levels at the start and the end of the day.
  for (const day of [addDays(DAY, -1), DAY]) apple.setReply('subscription', day, [level()])
  await app.imports.run({ days: 2 })
  await app.windfall.reported.settled()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const read = async (metric: string) => {
    const path = `/api/v1/metrics/${metric}?zone=pacific&from=${DAY}&to=${DAY}`
    const { series } = (await (await app.request(path, { headers })).json()) as SeriesAnswer
    return (part: string | null) => series.find((one) => one.part === part)?.points[0]
  }
  const [first, trials, conversion, churn] = [
    await read('first_payments'),
    await read('new_trials'),
    await read('trial_conversion'),
    await read('churn_rate'),
  ]
  return {
    first: first(null)?.count,
    direct: first('direct')?.count ?? 0,
    after_trial: first('after_trial')?.count ?? 0,
    began: trials(null)?.count,
    won: conversion(null)?.numerator,
    ended: conversion(null)?.denominator,
    churned: churn(null)?.numerator,
  }
}

const NOTHING = { first: 0, direct: 0, after_trial: 0, began: 0, won: 0, ended: 0, churned: 0 }

test('the rows of a real account: paid introductory offers, and free trials that end', async () => {
  const figures = await figuresFrom([
    row(START, 0, 42, PAY_AS_YOU_GO),
    row(START, 0, 1, PAY_AS_YOU_GO),
    row(START, 0, 3),
    row('Subscribe', 1, 2),
    // Since 20 September, two weeks of an offer: the first standard week was collected late.
    row(RETRIED, 1, 1, PAY_AS_YOU_GO),
    row(RETRIED, 9, 1),
    row('Renew', 3, 1, { ...PAY_AS_YOU_GO, 'Original Start Date': '2020-09-06' }),
    row('Renew', 5, 1, { ...PAY_AS_YOU_GO, 'Original Start Date': '2020-08-24' }),
    row('Renew', 2, 1, { 'Original Start Date': '2020-09-26' }),
    row('Upgrade', 3, 1, PAY_AS_YOU_GO),
    row('Billing Retry from Introductory Offer', 0, 4, PAY_AS_YOU_GO),
    row('Billing Retry from Paid Subscription', 3, 1, PAY_AS_YOU_GO),
    row('Canceled from Billing Retry', 0, 21, { ...FREE, 'Cancellation Reason': 'Billing issue' }),
    row('Cancel', 0, 1, { ...FREE, 'Cancellation Reason': 'Canceled' }),
    row('Cancel', 0, 11, { ...PAY_AS_YOU_GO, 'Cancellation Reason': 'Canceled' }),
    row('Cancel', 1, 1, { 'Cancellation Reason': 'Billing issue' }),
    row('Cancel', 6, 1, { 'Cancellation Reason': 'Billing issue' }),
  ])
  // 42 + 1 + 3 + 2 begin paid. 21 + 1 trials end unpaid. 11 + 1 + 1 paid subscriptions end.
  expect(figures).toEqual({ ...NOTHING, first: 48, direct: 48, ended: 22, churned: 13 })
})

test.each([
  ['pay as you go', PAY_AS_YOU_GO],
  ['pay up front', UP_FRONT],
])(
  'the start of an introductory offer to %s is the first payment, its conversion is none',
  async (_, offer) => {
    const starts = [row(START, 0, 10, offer)]
    expect(await figuresFrom(starts)).toEqual({ ...NOTHING, first: 10, direct: 10 })
    const paid = [row(PAID, 1, 10, offer), row('Upgrade from Introductory Offer', 1, 2, offer)]
    const late = [row('Renewals from Grace Period', 1, 4, offer), row(RETRIED, 1, 5, offer)]
    const other = [row('Renew', 1, 3, offer), row('Upgrade', 1, 6, offer)]
    expect(await figuresFrom([...starts, ...paid, ...late, ...other])).toEqual({
      ...NOTHING,
      first: 10,
      direct: 10,
    })
  },
)

test.each([
  ['names it in the payment', FREE],
  ['leaves it blank in the payment', {}],
])('a free trial converts, whether Apple %s', async (_, offer) => {
  const figures = await figuresFrom([
    row(START, 0, 20, FREE),
    row(PAID, 1, 7, offer),
    row('Renewals from Grace Period', 1, 2, offer),
    // The payment failed, so the trial ended; it was collected later.
    row(RETRIED, 1, 1, offer),
    row('Cancel', 0, 4, { ...FREE, 'Cancellation Reason': 'Canceled' }),
    // It was paid twice.
    row('Cancel', 2, 3, { ...offer, 'Cancellation Reason': 'Canceled' }),
  ])
  expect(figures).toEqual({ first: 10, direct: 1, after_trial: 9, began: 20, won: 9, ended: 14, churned: 3 })
})

test('older reports name a paid introductory offer in the event', async () => {
  const price = 'Paid Subscription from Introductory Price'
  expect(await figuresFrom([row('Start Introductory Price', 0, 5), row(price, 1, 4)])).toEqual({
    ...NOTHING,
    first: 5,
    direct: 5,
  })
  const trial = [row('Start Free Trial', 0, 5), row('Paid Subscription from Free Trial', 1, 4)]
  expect(await figuresFrom(trial)).toEqual({
    ...NOTHING,
    first: 4,
    after_trial: 4,
    began: 5,
    won: 4,
    ended: 4,
  })
})

test('free offers with a name are no trials, and a paid one after a trial is its payment', async () => {
  const code = { ...FREE, 'Subscription Offer Name': 'PODCAST_MONTH' }
  const half = { ...PAY_AS_YOU_GO, 'Subscription Offer Name': 'half_price' }
  const figures = await figuresFrom([
    row('Start Offer Code', 0, 9, code),
    row('Cancel', 0, 2, { ...code, 'Cancellation Reason': 'Canceled' }),
    // The first payments after the free month.
    row('Renew', 1, 3),
    row('Renew', 1, 5, code),
    row('Downgrade from Introductory Offer', 0, 4, half),
    // A lapsed trial is bought again with an offer that costs money, and a paid subscription with another.
    row('Reactivation to Promotional Offer', 0, 1, { ...half, 'Days Canceled': '9' }),
    row('Reactivation to Promotional Offer', 7, 6, { ...half, 'Days Canceled': '9' }),
  ])
  expect(figures).toEqual({ ...NOTHING, first: 8, direct: 4, after_trial: 4, won: 4, ended: 4 })
})
