/** The cost of updating metrics, customers and cohorts for each new fact. */
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../../src/apple/notification.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import type { Bench } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { type BusinessFile, copyBusiness, openBusiness } from '../business/business_app.ts'
import { atMost, type Figure, median } from '../figures.ts'
import { openNotifications, type SignedNotification } from '../notifications/payloads.ts'

const MAX_MICROSECONDS = 100

/**
 * Applies notifications and waits until no figure is due. Returns the processor time per notification in microseconds.
 * The signatures are verified before the measurement. Without `hasMetrics` only the ledger is updated.
 */
async function cpuPerNotification(
  bench: Bench,
  business: BusinessFile,
  mail: SignedNotification[],
  roots: string[],
  hasMetrics: boolean,
) {
  const { windfall, close } = await openBusiness(copyBusiness(bench, business), bench.newFolder(), roots)
  const { store, apps, ledger, organizations } = windfall
  if (!hasMetrics) ledger.onChange(() => {})
  const { id } = organizations.resolve(null)
  const verifier = openVerifier({ roots, clock: () => BUSINESS_UNTIL })
  for (const { app } of mail)
    if (!apps.list().some(({ bundle_id }) => bundle_id === app.bundle_id))
      await store.commit(() => apps.add(id, app, 'bench'))
  const appsByBundle = new Map(apps.list().map((app) => [app.bundle_id, app]))
  const verifiedAll = []
  for (const { signedPayload } of mail) verifiedAll.push(await verifyNotification(verifier, signedPayload))
  const before = process.cpuUsage()
  await Promise.all(
    verifiedAll.map((verified, index) =>
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

/** Measures the same notifications in turns: with all figures updated, and with the ledger only. */
export async function measureUpkeep(bench: Bench, business: BusinessFile): Promise<Figure[]> {
  const { sizes } = bench
  const authority = await openAuthority({ now: BUSINESS_UNTIL })
  const { take } = openNotifications(authority, sizes.subscribers, BUSINESS_UNTIL)
  const mail = take(sizes.notifications)
  const roots = [authority.root_pem]
  const [with_metrics, ledger_only]: [number[], number[]] = [[], []]
  for (let round = 0; round < sizes.tail_rounds; round += 1) {
    with_metrics.push(await cpuPerNotification(bench, business, mail, roots, true))
    ledger_only.push(await cpuPerNotification(bench, business, mail, roots, false))
  }
  const upkeep = Math.min(...with_metrics) - Math.min(...ledger_only)
  return [
    atMost('a notification applied, with metrics and customers', median(with_metrics), 'µs', null),
    atMost('a notification applied, ledger only', median(ledger_only), 'µs', null),
    atMost('upkeep of metrics and customers per notification', upkeep, 'µs', MAX_MICROSECONDS),
  ]
}
