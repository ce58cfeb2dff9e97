/** Set-up of tests that enter Apple's keys in the dashboard: an owner, and a simulated store without connected apps. */
import { openTestApp, type TestOptions } from '../../../helpers.ts'
import { openShop } from '../../../ledger/history/connected_shop.ts'
import { openSignedIn } from '../settings_pages.ts'

/** Opens a Windfall without apps beside a simulated store, with the owner signed in. */
export async function openConnecting(options: TestOptions = {}) {
  const shop = await openShop({ subscribers: 3, days: 10 })
  const app = await openTestApp({ apps: [], clock: shop.clock, hosts: shop.hosts, ...options })
  const owned = await openSignedIn(app)
  const { connect_key: connect, purchase_key: purchases } = shop.store
  const enter = (kind: string, body: object) => owned.call('POST', `apple-keys/${kind}`, body)
  const rows = () =>
    app.windfall.store.prepare<[], { kind: string; sealed: string }>('select * from apple_keys').all()
  /** Runs `meanwhile` before the App Store Server API answers. */
  function whileAppleAnswers(meanwhile: () => unknown): void {
    shop.production.intercept = async (_, answer) => {
      await meanwhile()
      return answer
    }
  }
  return { ...owned, shop, whileAppleAnswers, enter, rows, connect, purchases }
}
