/** The ledger’s figures before the first report: shown where the two agree on that report’s day. */
import { expect, test } from 'vitest'
import { verifyTransaction } from '../../../src/apple/notification.ts'
import { dayNumber } from '../../../src/metrics/lineage/calendar.ts'
import { transactionPayload } from '../../apple/samples.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { DAY, level } from '../../ledger/reports/samples.ts'

const EARLIER = '2026-04-28'
const FIRST = '2026-04-30'
const noon = (day: string): number => Date.parse(`${day}T12:00:00Z`)

/**
 * A subscription for 9.00 € a month since April 25th, when a dollar was 0.9 €: 10.000 dollars. Its first report of April
 * 30th, when a dollar is 0.75 €, has `count` of them at 12.000 dollars each, and the second has three.
 */
async function read(count: number) {
  const apple = await openApple()
  const { windfall, authority, hear } = await apple.openWindfall()
  await hear(noon('2026-04-20'))
  const { store, rates, reported, imports, ledger, metrics, verifier, apps } = windfall
  const lines = ['date,currency,rate', '2026-04-25,EUR,0.9', `${FIRST},EUR,0.75`, `${DAY},EUR,0.75`].join(
    '\n',
  )
  await store.commit(() => rates.importRates(rates.readCsv(lines, 'USD')))
  const [app] = apps.list()
  if (!app) throw new Error('there is no app')
  const on = noon('2026-04-25')
  const payload = transactionPayload({
    transactionId: '1',
    originalTransactionId: '1',
    transactionReason: 'PURCHASE',
    purchaseDate: on,
    originalPurchaseDate: on,
    signedDate: on,
    expiresDate: noon('2026-05-25'),
    price: 9_000,
    currency: 'EUR',
    storefront: 'DEU',
  })
  const signed = await verifyTransaction(verifier, authority.sign(payload))
  await store.commit(() => void ledger.applyTransaction(app, signed, { origin: 'live', source: 'device' }))
  const cells = level({ 'Customer Price': '9.00', 'Customer Currency': 'EUR', Country: 'DE' })
  const setCount = (day: string, active: number): void =>
    apple.setReply('subscription', day, [
      {
        ...cells,
        'Active Standard Price Subscriptions': String(active),
        'Grace Period': '0',
        'Active Free Trial Introductory Offer Subscriptions': '0',
      },
    ])
  setCount(FIRST, 5)
  setCount(DAY, 3)
  await imports.run({ days: 2 })
  await reported.settled()
  // Revised once the other report, which differs too, is known: so the ledger is not used alone.
  setCount(FIRST, count)
  apple.clock.turn(6 * 3_600_000)
  await imports.run({ days: 2 })
  await reported.settled()
  const shown = metrics.generations.shown(app.organization_id)
  const query = { shown, app, environment: 'production', zone: 'pacific', filters: {}, split: null } as const
  const range = { currency: null, from: dayNumber(EARLIER), until: dayNumber(DAY) }
  const { days, values } = await reported.read({ ...query, ...range }, 'mrr')
  return { days, amounts: values.get('') }
}

test('a changed rate does not hide the year before the first report', async () => {
  const { days, amounts } = await read(1)
  expect(days.map(({ source, is_known }) => [source, is_known])).toEqual([
    ['ledger', true],
    ['ledger', true],
    ['reports', true],
    ['reports', true],
  ])
  expect(amounts).toEqual([
    { milli: 10_000, count: 1 },
    { milli: 10_000, count: 1 },
    { milli: 12_000, count: 1 },
    { milli: 36_000, count: 3 },
  ])
})

test('if the report has more than the ledger, nothing before it is known', async () => {
  const { days, amounts } = await read(2)
  expect(days.map(({ is_known }) => is_known)).toEqual([false, false, true, true])
  expect(amounts?.map(({ count }) => count)).toEqual([0, 0, 2, 3])
})
