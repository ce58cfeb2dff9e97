/** A ledger that was whole before the first report is used from its start, however many reports differ from it. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { SeriesAnswer } from '../../../src/metrics/series/series.ts'
import { dataBody, outerPayload, transactionPayload } from '../../apple/samples.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { DAY, level } from '../../ledger/reports/samples.ts'

const DAY_MS = 86_400_000
const DAYS = ['2026-04-29', '2026-04-30', DAY]
const noon = (day: string): number => Date.parse(`${day}T12:00:00Z`)

/** One subscription in the ledger and two in each of three reports. `older`: when one of unknown age is heard of. */
async function opened({ heard_days_ago, older }: { heard_days_ago: number; older?: string }) {
  const apple = await openApple()
  const app = await apple.openWindfall()
  const { windfall, authority, clock } = app
  const now = clock()
  async function renew(id: string, on: string, is_known: boolean): Promise<void> {
    const at = noon(on)
    const transaction = {
      transactionId: is_known ? id : `${id}9`,
      originalTransactionId: id,
      transactionReason: is_known ? 'PURCHASE' : 'RENEWAL',
      purchaseDate: at,
      originalPurchaseDate: is_known ? at : at - 365 * DAY_MS,
      signedDate: at,
      expiresDate: noon('2026-05-25'),
      appTransactionId: `70400000${id}`,
    }
    clock.set(at)
    const body = dataBody({ signedTransactionInfo: authority.sign(transactionPayload(transaction)) })
    const outer = { notificationUUID: randomUUID(), signedDate: at, notificationType: 'DID_RENEW' }
    expect((await app.notify(outerPayload(body, outer))).status).toBe(200)
    clock.set(now)
  }
  await app.hear(now - heard_days_ago * DAY_MS)
  await renew('1', '2026-04-20', true)
  if (older !== undefined) await renew('2', older, false)
  const cells = {
    'Active Standard Price Subscriptions': '2',
    'Grace Period': '0',
    'Customer Price': '4.99',
    'Active Free Trial Introductory Offer Subscriptions': '0',
  }
  for (const day of DAYS) apple.setReply('subscription', day, [level(cells)])
  for (const day of ['2026-04-27', '2026-04-28'])
    for (const kind of ['sales', 'subscription', 'subscription_event'] as const)
      apple.setReply(kind, day, 'gone')
  await app.imports.run({ days: 5 })
  await windfall.reported.settled()
  await windfall.metrics.whenCurrent()
  const headers = { authorization: `Bearer ${await app.token()}` }
  const path = '/api/v1/metrics/mrr?from=2026-04-24&to=2026-05-01&zone=pacific'
  const response = await app.request(path, { headers })
  const { series, sources, cutovers } = (await response.json()) as SeriesAnswer
  const counts = series[0]?.points.map(({ count, complete }) => (complete ? `${count}` : `${count}~`))
  return { counts, sources: sources.map(({ source }) => source), to: cutovers.map((one) => one.to) }
}

test('a year after the first notification the ledger is whole, and no report interrupts it', async () => {
  expect(await opened({ heard_days_ago: 400 })).toEqual({
    counts: Array.from({ length: 8 }, () => '1'),
    sources: ['ledger'],
    to: ['ledger'],
  })
})

test('it is whole from the day after the last subscription that it did not know', async () => {
  expect(await opened({ heard_days_ago: 400, older: '2026-04-26' })).toEqual({
    counts: ['1~', '1~', '2~', '2', '2', '2', '2', '2'],
    sources: ['ledger'],
    to: ['ledger'],
  })
})

test.each([
  [
    'an older subscription becomes known after the first report',
    { heard_days_ago: 400, older: '2026-04-30' },
  ],
  ['an older subscription may not have had to renew', { heard_days_ago: 300 }],
])('it is not whole while %s', async (_, options) => {
  const { counts, sources } = await opened(options)
  expect(counts?.slice(-3)).toEqual(['2', '2', '2'])
  expect(sources).toEqual(['reports'])
})
