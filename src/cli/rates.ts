/** The command `windfall rates`: exchange rates: which there are, and bringing them to a machine without the way out. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import { Refusal } from '../errors.ts'
import { BASE } from '../ledger/rates/currencies.ts'
import type { CurrencyRates, Imported, ShownRate } from '../ledger/rates/rates.ts'
import { columns, configArg, print, tell } from './instance.ts'

/** Far more than the rates that one file may hold. */
const LARGEST_FILE = 4_000_000
const DAYS_SHOWN = 30

const list = defineCommand({
  meta: { name: 'list', description: 'Show the newest rate of each currency, where it is from, and gaps' },
  args: configArg,
  async run({ args }) {
    const { currencies } = await tell<{ currencies: CurrencyRates[] }>(args.config, 'rates.list', {})
    const rows = currencies.map((one) => [
      one.currency,
      one.per_usd,
      one.oldest_on,
      one.newest_on,
      one.source,
      one.gaps.map(({ from_on, until_on }) => `${from_on} to ${until_on}`).join(', ') || null,
    ])
    print(columns([['currency', 'per dollar', 'from', 'to', 'source', 'days without'], ...rows]))
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
    const asked = { currency: args.currency.toUpperCase(), days: daysIn(args.days) }
    const { rates } = await tell<{ rates: ShownRate[] }>(args.config, 'rates.show', asked)
    if (rates.length === 0)
      return print(`There is no rate of ${asked.currency} in the last ${asked.days} days.`)
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
    description: 'Take rates from a CSV file with a header: date,currency,rate',
  },
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'The file; each rate is what one unit of the base costs',
    },
    base: { type: 'string', default: BASE, valueHint: 'CURRENCY', description: 'What the rates are against' },
    ...configArg,
  },
  async run({ args }) {
    const asked = { csv: textOf(resolve(args.file)), base: args.base.toUpperCase() }
    const { added, known, settled, days } = await tell<Imported>(args.config, 'rates.import', asked)
    print(`${added} rates on ${days} days are new.`)
    if (known > 0) print(`${known} were known already and stay as they are.`)
    if (settled > 0)
      print(
        `${settled} are of weekends or holidays over which the rate before them was carried, and are left out.`,
      )
  },
})

function textOf(file: string): string {
  try {
    if (statSync(file).size > LARGEST_FILE)
      throw new Refusal(400, 'too_large', `${file} is over 4 MB: split it, a year in each file`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Refusal) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Refusal(400, 'unreadable', `${file} cannot be read (${reason})`)
  }
}

export const ratesCommand = defineCommand({
  meta: { name: 'rates', description: 'Show exchange rates; import them from a file' },
  subCommands: { list, show, import: importFile },
  default: 'list',
})
