/** The command `windfall rates`: exchange rates: which there are, and bringing them to a machine without the way out. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import { readFile } from '../config/sources/files.ts'
import { Refusal } from '../errors.ts'
import { BASE } from '../rates/currencies.ts'
import type { CurrencyRates, DifferingRate, ImportedRates, ShownRate } from '../rates/rates.ts'
import { columns, configArg, plural, print, printError, sendVerb } from './instance/instance.ts'

/** Far more than the rates that one file may hold. */
const MAX_FILE_BYTES = 4_000_000
const DAYS_SHOWN = 30

const list = defineCommand({
  meta: { name: 'list', description: 'Show the newest rate of each currency, where it is from, and gaps' },
  args: configArg,
  async run({ args }) {
    const { currencies } = await sendVerb<{ currencies: CurrencyRates[] }>(args.config, 'rates.list', {})
    const known = currencies.filter(({ per_usd }) => per_usd !== null)
    const none = currencies.filter(({ per_usd }) => per_usd === null).map(({ currency }) => currency)
    const rows = known.map((one) => [
      one.currency,
      one.per_usd,
      one.oldest_on,
      one.newest_on,
      one.source,
      one.gaps.map(({ from_on, until_on }) => `${from_on} to ${until_on}`).join(', ') || null,
    ])
    if (rows.length > 0)
      print(columns([['currency', 'per dollar', 'from', 'to', 'source', 'days without'], ...rows]))
    if (none.length > 0)
      print(`Without a rate on any day (${none.length} of ${currencies.length}): ${none.join(' ')}`)
  },
})

const show = defineCommand({
  meta: { name: 'show', description: 'Show the rates of one currency, day by day' },
  args: {
    currency: { type: 'positional', required: true, description: 'Which, as in EUR' },
    days: {
      type: 'string',
      default: String(DAYS_SHOWN),
      valueHint: 'DAYS',
      description: 'How many days back',
    },
    ...configArg,
  },
  async run({ args }) {
    const request = { currency: args.currency.toUpperCase(), days: daysIn(args.days) }
    const { rates } = await sendVerb<{ rates: ShownRate[] }>(args.config, 'rates.show', request)
    if (rates.length === 0)
      return print(`There is no rate of ${request.currency} in the last ${plural(request.days, 'day')}.`)
    const rows = rates.map(({ rated_on, per_usd, source }) => [rated_on, per_usd, source])
    print(columns([['day', 'per dollar', 'source'], ...rows]))
  },
})

function daysIn(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--days takes a whole number of days; ${text} is none`)
}

const importFile = defineCommand({
  meta: {
    name: 'import',
    description:
      'Take rates from a CSV file whose first line is date,currency,rate. A rate is what one unit of the base costs: 0.86 for EUR means that 1 USD = 0.86 EUR',
  },
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'The file, with lines as in 2026-01-31,EUR,0.86',
    },
    base: { type: 'string', default: BASE, valueHint: 'CURRENCY', description: 'What the rates are against' },
    ...configArg,
  },
  async run({ args }) {
    const request = { csv: textOf(args.file), base: args.base.toUpperCase() }
    const done = await sendVerb<ImportedRates>(args.config, 'rates.import', request)
    const { added, known, settled, days, differing } = done
    print(`${plural(added, 'rate')} on ${plural(days, 'day')} ${added === 1 ? 'is' : 'are'} new.`)
    const same = known - differing.length
    if (same > 0) print(`${same} ${same === 1 ? 'was' : 'were'} known already.`)
    if (settled > 0) print(settledText(settled))
    printDiffering(differing)
  },
})

const settledText = (count: number): string =>
  count === 1
    ? '1 is of a weekend or holiday over which the rate before it was carried, and is left out.'
    : `${count} are of weekends or holidays over which the rate before them was carried, and are left out.`

/** Differing rates that are told one by one; more of them help nobody. */
const MAX_LISTED = 20

function printDiffering(differing: readonly DifferingRate[]): void {
  if (differing.length === 0) return
  process.exitCode = 1
  for (const { currency, on, written, known, source } of differing.slice(0, MAX_LISTED)) {
    const way = source === 'import' ? ` (windfall rates remove ${currency} ${on} makes room)` : ''
    printError(
      `${currency} on ${on}: ${written} for one ${BASE} differs from what is known (${known} on that day); not changed${way}`,
    )
  }
  const more = differing.length - MAX_LISTED
  if (more > 0) printError(`and ${more} more that differ`)
}

/** @throws Refusal 400 in words */
function textOf(written: string): string {
  const file = resolve(written)
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_FILE_BYTES)
    throw new Refusal(400, 'too_large', `${file} is over 4 MB: split it, a year in each file`)
  const read = readFile(file)
  if ('problem' in read) throw new Refusal(400, 'unreadable', `${file} ${read.problem}`)
  return read.text
}

const remove = defineCommand({
  meta: { name: 'remove', description: 'Take back a rate that was imported; amounts are converted anew' },
  args: {
    currency: { type: 'positional', required: true, description: 'Which, as in EUR' },
    day: { type: 'positional', required: true, description: 'Of which day, as in 2026-01-31' },
    ...configArg,
  },
  async run({ args }) {
    const request = { currency: args.currency.toUpperCase(), day: args.day }
    const { rated_on, per_usd } = await sendVerb<ShownRate>(args.config, 'rates.remove', request)
    print(
      `${request.currency} of ${rated_on} (${per_usd}) is removed. What was converted at it is counted anew.`,
    )
  },
})

export const ratesCommand = defineCommand({
  meta: { name: 'rates', description: 'Show exchange rates; import them from a file' },
  subCommands: { list, show, import: importFile, remove },
  default: 'list',
})
