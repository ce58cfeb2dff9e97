/** The cost of updating metrics, customers and cohorts for each new fact. */
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../../src/apple/notification.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import type { Bench } from '../bench.ts'
import { BUSINESS_UNTIL } from '../business/business.ts'
import { type Counted, copyOf, openBusiness } from '../business/business_app.ts'
import { below, type Figure, median } from '../figures.ts'
import { type Mail, openMail } from '../notifications/payloads.ts'

const MOST_MICROSECONDS = 100

/**
 * Microseconds of a processor that the ledger needs for each of some notifications that were proved before, until nothing
 * of them is due: what else the machine does is not in them.
 */
async function timed(workshop: Bench, counted: Counted, mail: Mail[], roots: string[], isKeptUp: boolean) {
  const { windfall, close } = await openBusiness(copyOf(workshop, counted), workshop.newFolder(), roots)
  const { store, apps, ledger, organizations } = windfall
  if (!isKeptUp) ledger.onChange(() => {})
  const { id } = organizations.resolve(null)
  const verifier = openVerifier({ roots, clock: () => BUSINESS_UNTIL })
  for (const { app } of mail)
    if (!apps.list().some(({ bundle_id }) => bundle_id === app.bundle_id))
      await store.commit(() => apps.add(id, app, 'bench'))
  const homes = new Map(apps.list().map((app) => [app.bundle_id, app]))
  const proved = []
  for (const { signedPayload } of mail) proved.push(await verifyNotification(verifier, signedPayload))
  const before = process.cpuUsage()
  await Promise.all(
    proved.map((verified, index) =>
      store.commit(() => {
        const app = homes.get(mail[index]?.app.bundle_id ?? '')
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
export async function measureUpkeep(workshop: Bench, counted: Counted): Promise<Figure[]> {
  const { sizes } = workshop
  const authority = await openAuthority({ now: BUSINESS_UNTIL })
  const { take } = openMail(authority, sizes.subscribers, BUSINESS_UNTIL)
  const mail = take(sizes.notifications)
  const roots = [authority.root_pem]
  const [own, alone]: [number[], number[]] = [[], []]
  for (let round = 0; round < sizes.tail_rounds; round += 1) {
    own.push(await timed(workshop, counted, mail, roots, true))
    alone.push(await timed(workshop, counted, mail, roots, false))
  }
  const upkeep = Math.min(...own) - Math.min(...alone)
  return [
    below('a notification kept, with metrics and customers', median(own), 'µs', null),
    below('a notification kept, by the ledger alone', median(alone), 'µs', null),
    below('upkeep of metrics and customers for one', upkeep, 'µs', MOST_MICROSECONDS),
  ]
}
