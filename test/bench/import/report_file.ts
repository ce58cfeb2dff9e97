/** SALES reports of any size, as of a company with thousands of products. */
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
/** The lines from which the average length of a line is computed. */
const SAMPLE_ROWS = 2_000
/** Endings of titles. Few are not ASCII, but a block with one such title takes a slower path in the parser. */
const LANGUAGES = ['', ', édition française', '', ' 日本語版', '', '', '', ' für Anfänger', '', '']

/** The fields that every line has. */
function commonFields(random: Random, app: App, { country, currency }: Storefront): ReportLine {
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

/** Mostly a renewal; sometimes a one-time purchase, a download, a refund, or a credit at an upgrade. */
function lineOf(random: Random, number: number): ReportLine {
  const app = random.weighted(APPS)
  const storefront = random.weighted(STOREFRONTS)
  const line = commonFields(random, app, storefront)
  const class_fraction = random.fraction()
  // Downloads: few rows with many units each.
  if (class_fraction < 0.02) return { ...line, product_type: random.pick(['1F', '3F', '7F']) }
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
  if (class_fraction < 0.2) return { ...sold, product_type: 'IA1' }
  const renewed: ReportLine = {
    ...sold,
    product_type: 'IAY',
    plan,
    renewal: random.chance(0.8),
    after_a_year,
    offer: random.chance(0.1) ? plan.introductory : null,
  }
  if (class_fraction < 0.94) return renewed
  const price = -price_milli
  return class_fraction < 0.97
    ? { ...renewed, units: -random.whole(1, 3), price_milli: price }
    : { ...renewed, units: 0, price_milli: price }
}

export type ReportFile = {
  rows: number
  /** The uncompressed size. */
  bytes: number
  /** Returns the report of `day` ('YYYY-MM-DD') as gzip. */
  bodyOf: (day: string) => Buffer
}

/** Generates a deterministic report of about `bytes` uncompressed bytes. */
export function openReportFile(bytes: number): ReportFile {
  const random = openRandom('bench/report')
  const textOf = (rows: number): string => {
    const lines = Array.from({ length: rows }, (_, number) => lineOf(random, number))
    return gunzipSync(tableOf(SALES_COLUMNS, salesRows(lines))).toString()
  }
  const sample = Buffer.byteLength(textOf(SAMPLE_ROWS))
  const text = textOf(Math.round((bytes / sample) * SAMPLE_ROWS))
  return {
    rows: text.split('\n').length - 2,
    bytes: Buffer.byteLength(text),
    bodyOf: (day) => gzipSync(text.replaceAll(slashDate(DAY), slashDate(day)), { level: 1 }),
  }
}
