/** Report lines of customers without purchases (downloads and updates), and of an app that was removed. */
import { APPS } from '../world/catalogue.ts'
import { pacificDay } from '../world/pacific.ts'
import type { Person } from '../world/people.ts'
import { DAY_MS } from '../world/periods.ts'
import type { ReportLine } from '../world/report_lines.ts'
import { deviceOf, isLate } from '../world/selling.ts'
import { STOREFRONTS, type Storefront } from '../world/storefronts.ts'
import type { Script, World } from '../world/world.ts'

/** An app that was removed from the store. Its last customers still pay, but no API lists the app. */
const REMOVED = { name: 'Kelp', sku: 'LL-KELP-00', apple_id: '6470112200' }

function freeLine(
  at: number,
  app: { name: string; sku: string; bundle_id: string | null; apple_id: number | string },
  { country, currency }: Storefront,
): ReportLine {
  return {
    at,
    day: pacificDay(at),
    late: false,
    sku: app.sku,
    bundle_id: app.bundle_id,
    product_type: '1F',
    product_id: app.sku,
    apple_id: String(app.apple_id),
    title: app.name,
    country,
    currency,
    units: 1,
    price_milli: 0,
    proceeds_milli: 0,
    person: null,
    plan: null,
    offer: null,
    renewal: false,
    after_a_year: false,
    preserved: false,
    device: 'iPhone',
    purchased_on: pacificDay(at),
  }
}

/** Records the download of the app by a new customer. */
export function reportDownload(world: World, person: Person): void {
  if (person.environment === 'sandbox') return
  const line = freeLine(world.now(), person.app, person.storefront)
  world.books.report({ ...line, device: deviceOf(person), late: isLate(`download ${person.id}`) })
}

/** Records updates and renewals of the removed app. */
function reportRemoved(world: World, at: number, units: number): void {
  const line = freeLine(
    at,
    { ...REMOVED, bundle_id: null },
    world.random.fork(`kelp/${at}`).pick(STOREFRONTS),
  )
  world.books.report({ ...line, product_type: '7F', units: units + 1 })
  world.books.report({
    ...line,
    product_type: 'IAY',
    product_id: 'kelp.plus.monthly',
    apple_id: '6470220001',
    title: 'Kelp Plus, monthly',
    units,
    price_milli: 2990,
    proceeds_milli: 2090,
    renewal: true,
  })
}

/** Daily downloads, redownloads and updates; `downloads_per_day` is the number of downloads of each app. */
export function* visitorScript(world: World, downloads_per_day: number): Script {
  const random = world.random.fork('visitors')
  for (;;) {
    yield world.now() + DAY_MS
    for (const app of APPS) {
      for (const [product_type, factor] of [
        ['1F', 0.5],
        ['3F', 0.2],
        ['7F', 1.5],
      ] as const) {
        const units = random.whole(0, Math.round(2 * downloads_per_day * factor))
        if (units === 0) continue
        const line = freeLine(world.now() - random.whole(0, 20_000_000), app, random.weighted(STOREFRONTS))
        const late = isLate(`${app.sku} ${product_type} ${line.at}`)
        world.books.report({ ...line, product_type, units, late })
      }
    }
    if (random.chance(0.15)) reportRemoved(world, world.now(), random.whole(1, 3))
  }
}
