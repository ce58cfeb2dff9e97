/** Parses and checks a CSV file of exchange rates for import. */
import { isDay } from '../days.ts'
import { BASE, isCurrency } from './currencies.ts'
import { quotientNano, rateText } from './exact.ts'
import { faultInImported, type KnownRates } from './imported.ts'
import type { Rate } from './judging.ts'
import { type CsvRow, rowsOf } from './parse.ts'

/** The most rows of a file: more than a year of Apple's currencies, but few enough for one transaction. */
const MAX_RATES = 20_000
const COLUMNS = ['date', 'currency', 'rate']

/** One rate of the file, against its base. */
type ParsedRate = { line: number; on: string; currency: string; rate: string }

/**
 * Parses a CSV file to rates against the dollar, oldest first within each currency, and lists every fault with its
 * line. Each rate is the price of one unit of `base`. If `base` is not USD, each day needs a rate of USD in the file or
 * in the database. Days after `today` are faults.
 */
export function readRates(
  text: string,
  base: string,
  { today, known }: { today: string; known: KnownRates },
): { rates: Map<string, Rate[]>; faults: string[] } {
  const { header, rows } = rowsOf(text)
  const missing = COLUMNS.filter((name) => !header.includes(name))
  const onlyFault = (fault: string) => ({ rates: new Map<string, Rate[]>(), faults: [fault] })
  if (!isCurrency(base)) return onlyFault(`the base ${quoted(base)} is not a currency`)
  if (text.trim() === '') return onlyFault('the file is empty')
  if (missing.length > 0) return onlyFault(headerFault(text, missing))
  if (rows.length === 0) return onlyFault('the file has no rates')
  if (rows.length > MAX_RATES)
    return onlyFault(`the file has more than ${MAX_RATES} rates; split it into one file for each year`)
  const faults: string[] = []
  const addFault = (line: number, fault: string): void => void faults.push(`line ${line}: ${fault}`)
  const parsedRates = rows.flatMap((row) => parseRow(row, base, today, addFault))
  reportDuplicates(parsedRates, addFault)
  const perDollar = inDollars(parsedRates, base, known, addFault)
  const rates = Map.groupBy(perDollar, ({ currency }) => currency)
  for (const own of rates.values()) reportImplausible(own, rates.get('EUR') ?? [], known, addFault)
  return { rates, faults: sortFaults(faults) }
}

/** The fault of a wrong header. Spreadsheets that use a decimal comma separate cells with semicolons. */
function headerFault(text: string, missing: readonly string[]): string {
  const must = `line 1 must be: ${COLUMNS.join(',')}`
  if (/^[^\r\n]*;/.test(text))
    return `${must}; this file has semicolons: separate cells with commas, and use a decimal point (0.86)`
  return missing.length === COLUMNS.length ? must : `${must}; ${missing.join(' and ')} is missing`
}

type AddFault = (line: number, fault: string) => void

const lineOf = (fault: string): number => Number(/^line (\d+)/.exec(fault)?.[1] ?? 0)
const sortFaults = (faults: string[]): string[] => faults.sort((a, b) => lineOf(a) - lineOf(b))

function parseRow({ line, cells }: CsvRow, base: string, today: string, addFault: AddFault): ParsedRate[] {
  if (cells === null) {
    addFault(line, 'it does not have as many cells as the header')
    return []
  }
  const { date: on = '', currency: code = '', rate = '' } = cells
  const currency = code.toUpperCase()
  const fault = faultIn(on, currency, rate, base, today)
  if (fault !== null) addFault(line, fault)
  return fault === null ? [{ line, on, currency, rate }] : []
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 40))

function faultIn(on: string, currency: string, rate: string, base: string, today: string): string | null {
  if (!isDay(on)) return `${quoted(on)} is not a date; use the format 2026-01-31`
  if (on > today) return `${on} is in the future`
  if (!isCurrency(currency)) return `${quoted(currency)} is not a currency`
  if (quotientNano(rate, '1') === null)
    return `${quoted(rate)} is not a rate; use a number above zero, such as 0.8612`
  if (currency === base && quotientNano(rate, '1') !== quotientNano('1', '1'))
    return `one ${base} cannot cost ${rate} ${base}`
  return null
}

function reportDuplicates(parsedRates: readonly ParsedRate[], addFault: AddFault): void {
  const seen = new Map<string, number>()
  for (const { line, on, currency } of parsedRates) {
    const first = seen.get(`${on} ${currency}`)
    if (first === undefined) seen.set(`${on} ${currency}`, line)
    else addFault(line, `${currency} on ${on} is already in line ${first}`)
  }
}

type NumberedRate = Rate & { line: number }

/** Converts the rates of the file to rates for one dollar, with a rate of the base for each day. */
function inDollars(
  parsedRates: readonly ParsedRate[],
  base: string,
  known: KnownRates,
  addFault: AddFault,
): NumberedRate[] {
  const dollarRateByDay = new Map(
    parsedRates.filter(({ currency }) => currency === BASE).map(({ on, rate }) => [on, rate]),
  )
  const bases = new Map<string, NumberedRate>()
  const rates = parsedRates.flatMap(({ line, on, currency, rate }): NumberedRate[] => {
    const dollar = dollarOn(on, base, dollarRateByDay, known)
    if (dollar === null) {
      addFault(line, `there is no rate of ${BASE} on ${on}, which is needed to convert from ${base}`)
      return []
    }
    const base_nano = base === BASE ? null : quotientNano('1', dollar)
    if (base_nano !== null && dollarRateByDay.has(on))
      bases.set(on, { line, currency: base, on, per_usd_nano: base_nano })
    const per_usd_nano = quotientNano(rate, dollar)
    if (currency === BASE || currency === base) return []
    if (per_usd_nano === null) addFault(line, `${currency} on ${on} is outside the supported range`)
    return per_usd_nano === null ? [] : [{ line, currency, on, per_usd_nano }]
  })
  return [...rates, ...bases.values()].sort((a, b) => (a.on < b.on ? -1 : a.on > b.on ? 1 : 0))
}

/** The price of one unit of the base in dollars, as text: from the file, or from the database for exactly that day. */
function dollarOn(
  on: string,
  base: string,
  dollarRateByDay: ReadonlyMap<string, string>,
  known: KnownRates,
): string | null {
  if (base === BASE) return '1'
  const rateInFile = dollarRateByDay.get(on)
  if (rateInFile !== undefined) return rateInFile
  const row = known.last(base, on)
  if (row?.rated_on !== on) return null
  const nano = quotientNano('1', rateText(row.per_usd_nano))
  return nano === null ? null : rateText(nano)
}

function reportImplausible(
  own: readonly NumberedRate[],
  euros: readonly Rate[],
  known: KnownRates,
  addFault: AddFault,
): void {
  for (const [index, rate] of own.entries()) {
    const fault = faultInImported(rate, { earlier: own[index - 1] ?? null, euros, known })
    if (fault !== null) addFault(rate.line, fault)
  }
}
