/** SALES reports of any size: what the simulated store would report if its company sold thousands of products. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { SALES_COLUMNS, salesRows } from '../../../src/demo/store/sales.ts'
import { slashDate, tableOf } from '../../../src/demo/store/tables.ts'
import { APPS } from '../../../src/demo/world/catalogue.ts'
import { proceedsFor } from '../../../src/demo/world/commission.ts'
import type { App } from '../../../src/demo/world/products.ts'
import { openRandom, type Random } from '../../../src/demo/world/random.ts'
import type { ReportLine } from '../../../src/demo/world/report_lines.ts'
import { STOREFRONTS, type Storefront, TIERS } from '../../../src/demo/world/storefronts.ts'

const DAY = '2026-03-01'
/** So many lines tell how long one is. */
const SAMPLE = 2_000
/** Few texts of a report are beyond ASCII, but one is enough for a whole block of it to be read in another way. */
const LANGUAGES = ['', ', édition française', '', ' 日本語版', '', '', '', ' für Anfänger', '', '']

/** What of a line every class of them has. */
function ground(random: Random, app: App, { country, currency }: Storefront): ReportLine {
  return {
    at: 0,
    day: DAY,
    late: false,
    sku: app.sku,
    bundle_id: app.bundle_id,
    product_type: '1F',
    product_id: app.sku,
    apple_id: String(app.apple_id),
    title: app.name,
    country,
    currency,
    units: random.whole(1, 40),
    price_milli: 0,
    proceeds_milli: 0,
    person: null,
    plan: null,
    offer: null,
    renewal: false,
    after_a_year: false,
    preserved: false,
    device: random.chance(0.8) ? 'iPhone' : 'iPad',
    purchased_on: DAY,
  }
}

/** A renewal mostly, sometimes something bought once, a download, a refund, a part given back at an upgrade. */
function lineOf(random: Random, number: number): ReportLine {
  const app = random.weighted(APPS)
  const storefront = random.weighted(STOREFRONTS)
  const line = ground(random, app, storefront)
  const kind = random.fraction()
  // Of these there are few rows, however many units.
  if (kind < 0.02) return { ...line, product_type: random.pick(['1F', '3F', '7F']) }
  const plan = random.pick(app.plans)
  const price_milli = TIERS[plan.tier][storefront.currency]
  const after_a_year = random.chance(0.3)
  const proceeds_milli = proceedsFor(price_milli, storefront, after_a_year)
  const product = `${plan.product_id}.${number % 5_000}`
  const sold: ReportLine = {
    ...line,
    product_id: product,
    apple_id: `${plan.apple_id}${number % 5_000}`,
    title: `${plan.name}${LANGUAGES[number % LANGUAGES.length]}`,
    price_milli,
    proceeds_milli,
  }
  if (kind < 0.2) return { ...sold, product_type: 'IA1' }
  const renewed: ReportLine = {
    ...sold,
    product_type: 'IAY',
    plan,
    renewal: random.chance(0.8),
    after_a_year,
    offer: random.chance(0.1) ? plan.introductory : null,
  }
  if (kind < 0.94) return renewed
  const price = -price_milli
  return kind < 0.97
    ? { ...renewed, units: -random.whole(1, 3), price_milli: price }
    : { ...renewed, units: 0, price_milli: price }
}

export type ReportFile = {
  rows: number
  /** Uncompressed. */
  bytes: number
  /** The report of that day ('YYYY-MM-DD'), gzip. */
  bodyOf: (day: string) => Buffer
}

/** A report of about so many bytes, uncompressed; always the same one. */
export function openReportFile(bytes: number): ReportFile {
  const random = openRandom('bench/report')
  const textOf = (rows: number): string => {
    const lines = Array.from({ length: rows }, (_, number) => lineOf(random, number))
    return gunzipSync(tableOf(SALES_COLUMNS, salesRows(lines))).toString()
  }
  const sample = Buffer.byteLength(textOf(SAMPLE))
  const text = textOf(Math.round((bytes / sample) * SAMPLE))
  return {
    rows: text.split('\n').length - 2,
    bytes: Buffer.byteLength(text),
    bodyOf: (day) => gzipSync(text.replaceAll(slashDate(DAY), slashDate(day)), { level: 1 }),
  }
}
