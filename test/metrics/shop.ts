/** An app with one subscription, and the changes that affect its figures. */
import { loadConfig } from '../../src/config/load.ts'
import { dataBody, NOW, outerPayload, transactionPayload } from '../apple/samples.ts'
import { openTestApp, type TestOptions } from '../helpers.ts'

const DAY = 86_400_000
const PRODUCT = 'lantern.pro.monthly'

/** The optional fields of a purchase. `renewal`: its number in the subscription, 0 for the first purchase. */
type Sold = { renewal?: number; price?: number; currency?: string; at?: number }

export type Shop = Awaited<ReturnType<typeof openShop>>

export async function openShop(options: TestOptions = {}) {
  const app = await openTestApp({ heard_at: NOW - 500 * DAY, ...options })
  const { windfall } = app
  const { store, rates, products, apps } = windfall
  let notifications = 0

  /** Posts the purchase or a renewal of subscription `number` as Apple does; returns the response’s status. */
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

  /** Changes the currency or time zone of figures, as a reload of the configuration does. */
  async function declare(wanted: { currency?: string; time_zone?: string }): Promise<void> {
    const WINDFALL_ORGANIZATIONS = JSON.stringify([{ slug: 'default', ...wanted }]).replace(
      /"(\w+)":/g,
      '$1 = ',
    )
    const { config } = loadConfig({ env: { ...options.env, WINDFALL_ORGANIZATIONS }, cwd: app.folder })
    await windfall.declare(config)
  }

  /** Stores a daily rate of the dollar in a currency. */
  async function keepRates(currency: string, days: readonly string[], rate: string): Promise<void> {
    const csv = ['date,currency,rate', ...days.map((on) => `${on},${currency},${rate}`)].join('\n')
    const read = rates.readCsv(csv, 'USD')
    await store.commit(() => void rates.importRates(read))
  }

  const takeBack = (currency: string, on: string) => store.commit(() => void rates.remove(currency, on))

  /** Changes the period of the product. */
  const learnPeriod = (period: string) =>
    store.commit(() => products.setReportedPeriod(apps.list()[0]?.id ?? '', { product_id: PRODUCT, period }))

  return { ...app, sell, declare, keepRates, takeBack, learnPeriod }
}
