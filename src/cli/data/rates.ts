/** The command `windfall rates`: lists exchange rates, and imports them on a machine without internet access. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import { readFile } from '../../config/sources/files.ts'
import { Refusal } from '../../errors.ts'
import { BASE } from '../../rates/currencies.ts'
import type { CurrencyRates, DifferingRate, ImportedRates, ShownRate } from '../../rates/rates.ts'
import { columns, configArg, plural, sendVerb } from '../instance/instance.ts'
import { print, printError } from '../instance/output.ts'

/** A file with the maximum number of rates is far smaller. */
const MAX_FILE_BYTES = 4_000_000
const DAYS_SHOWN = 30

const list = defineCommand({
  meta: { name: 'list', description: 'List the newest rate of each currency, its source, and gaps' },
  args: configArg,
  async run({ args }) {
    const { currencies } = await sendVerb<{ currencies: CurrencyRates[] }>(args.config, 'rates.list', {})
    const known = currencies.filter(({ per_usd }) => per_usd !== null)
    const unrated = currencies.filter(({ per_usd }) => per_usd === null).map(({ currency }) => currency)
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
    if (unrated.length > 0)
      print(`Without a rate on any day (${unrated.length} of ${currencies.length}): ${unrated.join(' ')}`)
  },
})

const show = defineCommand({
  meta: { name: 'show', description: 'Show the rates of one currency, day by day' },
  args: {
    currency: { type: 'positional', required: true, description: 'The currency, such as EUR' },
    days: { type: 'string', default: String(DAYS_SHOWN), valueHint: 'DAYS', description: 'Number of days' },
    ...configArg,
  },
  async run({ args }) {
    const request = { currency: args.currency.toUpperCase(), days: parseDays(args.days) }
    const { rates } = await sendVerb<{ rates: ShownRate[] }>(args.config, 'rates.show', request)
    if (rates.length === 0)
      return print(`There is no rate for ${request.currency} in the last ${plural(request.days, 'day')}.`)
    const rows = rates.map(({ rated_on, per_usd, source }) => [rated_on, per_usd, source])
    print(columns([['day', 'per dollar', 'source'], ...rows]))
  },
})

function parseDays(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new Refusal(400, 'invalid_request', `--days must be a positive whole number, not ${text}`)
}

const importFile = defineCommand({
  meta: {
    name: 'import',
    description: 'Import rates from a CSV file, for a machine without internet access',
  },
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'The CSV file, with lines such as 2026-01-31,EUR,0.86',
    },
    base: {
      type: 'string',
      default: BASE,
      valueHint: 'CURRENCY',
      description: 'The base currency of the rates',
    },
    ...configArg,
  },
  async run({ args }) {
    const request = { csv: readText(args.file), base: args.base.toUpperCase() }
    const imported = await sendVerb<ImportedRates>(args.config, 'rates.import', request)
    const { added, known, settled, days, differing } = imported
    print(`Added ${plural(added, 'rate')} on ${plural(days, 'day')}.`)
    const unchangedCount = known - differing.length
    if (unchangedCount > 0)
      print(`${unchangedCount} ${unchangedCount === 1 ? 'was' : 'were'} already present.`)
    if (settled > 0) print(settledText(settled))
    printDiffering(differing)
  },
})

const settledText = (count: number): string =>
  count === 1
    ? '1 rate is for a weekend or holiday, which the previous rate already covers, and was skipped.'
    : `${count} rates are for weekends or holidays, which the previous rate already covers, and were skipped.`

/** The maximum number of differing rates that are listed. */
const MAX_LISTED = 20

function printDiffering(differing: readonly DifferingRate[]): void {
  if (differing.length === 0) return
  process.exitCode = 1
  for (const { currency, on, written, known, source } of differing.slice(0, MAX_LISTED)) {
    const remedy = source === 'import' ? ` (windfall rates remove ${currency} ${on} removes it)` : ''
    printError(
      `${currency} on ${on}: ${written} for one ${BASE} differs from the stored rate (${known}); not changed${remedy}`,
    )
  }
  const unlistedCount = differing.length - MAX_LISTED
  if (unlistedCount > 0) printError(`and ${unlistedCount} more that differ`)
}

/** @throws Refusal 400 if the file cannot be read or is too large. */
function readText(written: string): string {
  const file = resolve(written)
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_FILE_BYTES)
    throw new Refusal(400, 'too_large', `${file} is larger than 4 MB; split it into one file for each year`)
  const content = readFile(file)
  if ('problem' in content) throw new Refusal(400, 'unreadable', `${file} ${content.problem}`)
  return content.text
}

const remove = defineCommand({
  meta: { name: 'remove', description: 'Remove an imported rate; amounts are converted again' },
  args: {
    currency: { type: 'positional', required: true, description: 'The currency, such as EUR' },
    day: { type: 'positional', required: true, description: 'The day, such as 2026-01-31' },
    ...configArg,
  },
  async run({ args }) {
    const request = { currency: args.currency.toUpperCase(), day: args.day }
    const { rated_on, per_usd } = await sendVerb<ShownRate>(args.config, 'rates.remove', request)
    print(
      `Removed the rate of ${request.currency} on ${rated_on} (${per_usd}). Amounts converted at it are recomputed.`,
    )
  },
})

export const ratesCommand = defineCommand({
  meta: { name: 'rates', description: 'Show exchange rates; import them from a file' },
  subCommands: { list, show, import: importFile, remove },
  default: 'list',
})
