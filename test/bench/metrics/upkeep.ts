/** The cost of updating metrics, customers and cohorts for each new fact. */
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../../src/apple/notification.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import type { Bench } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { type BusinessFile, copyBusiness, openBusiness } from '../business/business_app.ts'
import { atMost, type Figure, median } from '../figures.ts'
import { openNotifications, type SignedNotification } from '../notifications/payloads.ts'

const MOST_MICROSECONDS = 100

/**
 * Microseconds of a processor that the ledger needs for each of some notifications that were proved before, until nothing
 * of them is due: what else the machine does is not in them.
 */
async function cpuPerNotification(
  bench: Bench,
  counted: BusinessFile,
  mail: SignedNotification[],
  roots: string[],
  hasMetrics: boolean,
) {
  const { windfall, close } = await openBusiness(copyBusiness(bench, counted), bench.newFolder(), roots)
  const { store, apps, ledger, organizations } = windfall
  if (!hasMetrics) ledger.onChange(() => {})
  const { id } = organizations.resolve(null)
  const verifier = openVerifier({ roots, clock: () => BUSINESS_UNTIL })
  for (const { app } of mail)
    if (!apps.list().some(({ bundle_id }) => bundle_id === app.bundle_id))
      await store.commit(() => apps.add(id, app, 'bench'))
  const appsByBundle = new Map(apps.list().map((app) => [app.bundle_id, app]))
  const verified_notifications = []
  for (const { signedPayload } of mail)
    verified_notifications.push(await verifyNotification(verifier, signedPayload))
  const before = process.cpuUsage()
  await Promise.all(
    verified_notifications.map((verified, index) =>
      store.commit(() => {
        const app = appsByBundle.get(mail[index]?.app.bundle_id ?? '')
        if (app) ledger.apply(app, verified, { origin: 'live', source: 'push' })
      }),
    ),
  )
  await windfall.metrics.whenCurrent()
  const { user, system } = process.cpuUsage(before)
  await close()
  return (user + system) / mail.length
}

/** The same notifications with everything kept up, and with the ledger alone, in turns. */
export async function measureUpkeep(bench: Bench, counted: BusinessFile): Promise<Figure[]> {
  const { sizes } = bench
  const authority = await openAuthority({ now: BUSINESS_UNTIL })
  const { take } = openNotifications(authority, sizes.subscribers, BUSINESS_UNTIL)
  const mail = take(sizes.notifications)
  const roots = [authority.root_pem]
  const [with_metrics, ledger_only]: [number[], number[]] = [[], []]
  for (let round = 0; round < sizes.tail_rounds; round += 1) {
    with_metrics.push(await cpuPerNotification(bench, counted, mail, roots, true))
    ledger_only.push(await cpuPerNotification(bench, counted, mail, roots, false))
  }
  const upkeep = Math.min(...with_metrics) - Math.min(...ledger_only)
  return [
    atMost('a notification kept, with metrics and customers', median(with_metrics), 'µs', null),
    atMost('a notification kept, by the ledger alone', median(ledger_only), 'µs', null),
    atMost('upkeep of metrics and customers for one', upkeep, 'µs', MOST_MICROSECONDS),
  ]
}
