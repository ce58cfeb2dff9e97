/** An app that sells one subscription, and all that may change how its figures are counted. */
import { loadConfig } from '../../src/config/load.ts'
import { dataBody, NOW, outerPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestOptions } from '../helpers.ts'

const DAY = 86_400_000
const PRODUCT = 'lantern.pro.monthly'

/** What may be told of a purchase besides its number. `renewal`: which of the subscription, 0 for the first purchase. */
type Sold = { renewal?: number; price?: number; currency?: string; at?: number }

export type Shop = Awaited<ReturnType<typeof openShop>>

export async function openShop(options: TestOptions = {}) {
  const app = await openTestApp(options)
  const { windfall } = app
  const { store, rates, products, apps } = windfall
  let notifications = 0

  /** Posts the purchase of subscription number `number`, or a renewal of it, as Apple does; the answer's status. */
  async function sell(number: number, { renewal = 0, price = 4_990, currency = 'USD', at }: Sold = {}) {
    notifications += 1
    const first = String(2_000_000_000_000_000 + number * 1_000)
    const purchaseDate = (at ?? NOW - 40 * DAY) + renewal * 30 * DAY
    const signedTransactionInfo = app.authority.sign(
      transactionPayload({
        transactionId: String(Number(first) + renewal),
        originalTransactionId: first,
        price,
        currency,
        purchaseDate,
        originalPurchaseDate: at ?? NOW - 40 * DAY,
        expiresDate: purchaseDate + 30 * DAY,
        transactionReason: renewal === 0 ? 'PURCHASE' : 'RENEWAL',
        signedDate: purchaseDate,
        appTransactionId: `70400000000${first.slice(-7)}`,
      }),
    )
    const notificationUUID = `002e14d5-51f5-4503-b5a8-${String(notifications).padStart(12, '0')}`
    const notificationType = renewal === 0 ? 'SUBSCRIBED' : 'DID_RENEW'
    const { status } = await app.notify(
      outerPayload(dataBody({ signedTransactionInfo }), { notificationType, notificationUUID }),
    )
    return status
  }

  /** Counts figures in another currency or time zone, as a reload of the configuration does. */
  async function declare(wanted: { currency?: string; time_zone?: string }): Promise<void> {
    const WINDFALL_ORGANIZATIONS = JSON.stringify([{ slug: 'default', ...wanted }]).replace(
      /"(\w+)":/g,
      '$1 = ',
    )
    const { config } = loadConfig({ env: { ...options.env, WINDFALL_ORGANIZATIONS }, cwd: app.folder })
    await windfall.declare(config)
  }

  /** Keeps the price of a dollar in a currency from day to day. */
  async function keepRates(currency: string, days: readonly string[], rate: string): Promise<void> {
    const csv = ['date,currency,rate', ...days.map((on) => `${on},${currency},${rate}`)].join('\n')
    const read = rates.readCsv(csv, 'USD')
    await store.commit(() => void rates.keep(read))
  }

  const takeBack = (currency: string, on: string) => store.commit(() => void rates.remove(currency, on))

  /** Gives the product another period. */
  const learnPeriod = (period: string) =>
    store.commit(() => products.setReportedPeriod(apps.list()[0]?.id ?? '', { product_id: PRODUCT, period }))

  return { ...app, sell, declare, keepRates, takeBack, learnPeriod }
}
