/** Formats numbers, money, days and instants in English, in the variant that the viewer prefers. */
import { dayNumber, dayText } from '../../metrics/lineage/calendar.ts'
import { fiscalMonthDays, fiscalMonthOf } from '../../metrics/lineage/fiscal.ts'
import type { Interval } from '../../metrics/series/buckets.ts'
import { locale, whenNeeded } from './locale.ts'

const formatsByOptions = new Map<string, Intl.NumberFormat>()

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options)
  const format = formatsByOptions.get(key) ?? new Intl.NumberFormat(locale, options)
  formatsByOptions.set(key, format)
  return format
}

/** Symbols that several currencies share. */
const SHARED_SYMBOLS = /^(kr|[$£¥])/

/** Intl's options of a currency. Its own symbol replaces its code, as “Rp” for IDR, where no other currency has it too. */
function inCurrency(currency: string): Intl.NumberFormatOptions {
  const options = { style: 'currency', currency } as const
  const symbolOf = (currencyDisplay: 'symbol' | 'narrowSymbol') =>
    numberFormat({ ...options, currencyDisplay })
      .formatToParts(0)
      .find(({ type }) => type === 'currency')?.value
  const narrow = symbolOf('narrowSymbol') ?? currency
  const isOwn = symbolOf('symbol') === currency && !SHARED_SYMBOLS.test(narrow)
  return isOwn ? { ...options, currencyDisplay: 'narrowSymbol' } : options
}
const optionsByCurrency = new Map<string, Intl.NumberFormatOptions>()
function currencyOptions(currency: string): Intl.NumberFormatOptions {
  const options = optionsByCurrency.get(currency) ?? inCurrency(currency)
  optionsByCurrency.set(currency, options)
  return options
}

/** Placeholder of an unknown value. */
export const UNKNOWN = '–'

/** Amounts of at least this many thousandths are shown without cents. */
const CENTS_BELOW = 100_000_000

/** Zero has no sign, also if it is rounded. */
const UNSIGNED_ZERO = { signDisplay: 'negative' } as const

/** Thousandths of a currency, as `$1,234.56`. */
export function money(milli: number | null | undefined, currency: string | null): string {
  if (milli === null || milli === undefined) return UNKNOWN
  if (currency === null)
    return numberFormat({ maximumFractionDigits: 2, ...UNSIGNED_ZERO }).format(milli / 1000)
  const digits = Math.abs(milli) >= CENTS_BELOW ? { maximumFractionDigits: 0 } : {}
  return numberFormat({ ...currencyOptions(currency), ...digits, ...UNSIGNED_ZERO }).format(milli / 1000)
}

/** Money with its sign, as `+$1.50`. */
export function signedMoney(milli: number, currency: string | null): string {
  const text = money(milli, currency)
  return milli > 0 && text !== money(0, currency) ? `+${text}` : text
}

/** Money in compact notation for axes, as `$1.2K`. */
export const shortMoney = (milli: number, currency: string | null): string =>
  numberFormat({
    ...(currency ? currencyOptions(currency) : {}),
    ...UNSIGNED_ZERO,
    notation: 'compact',
    minimumFractionDigits: 0,
    maximumFractionDigits: Math.abs(milli) < 10_000 ? 2 : 1,
  }).format(milli / 1000)

export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? UNKNOWN : numberFormat({}).format(value)

export const shortCount = (value: number): string =>
  numberFormat({ notation: 'compact', maximumFractionDigits: 1 }).format(value)

/** A fraction from 0 to 1 as `12.3%`. */
export const share = (ratio: number | null | undefined, digits = 1): string =>
  ratio === null || ratio === undefined
    ? UNKNOWN
    : numberFormat({ style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
        ratio,
      )

/** A ratio as a plain number, as `2.4`. */
export const times = (ratio: number | null | undefined): string =>
  ratio === null || ratio === undefined ? UNKNOWN : numberFormat({ maximumFractionDigits: 2 }).format(ratio)

const ONE_DIGIT = { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: 'exceptZero' } as const

/** A ratio with its sign, as `+12.3%`. */
export const change = (ratio: number): string =>
  numberFormat({ style: 'percent', ...ONE_DIGIT }).format(ratio)

/** A difference of two fractions in percentage points, as `+1.4 pp`. */
export const points = (difference: number): string => `${numberFormat(ONE_DIGIT).format(difference * 100)} pp`

const DAY_MS = 86_400_000
const instantFormat = (options: Intl.DateTimeFormatOptions) =>
  whenNeeded(() => new Intl.DateTimeFormat(locale, options))
const utc = (options: Intl.DateTimeFormatOptions) => instantFormat({ timeZone: 'UTC', ...options })
const dayNames = utc({ day: 'numeric', month: 'short', year: 'numeric' })
const longDays = utc({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const shortDays = utc({ day: 'numeric', month: 'short' })
const weekdays = utc({ weekday: 'long' })
const monthNames = utc({ month: 'long', year: 'numeric' })
const monthsOfYears = utc({ month: 'short', year: 'numeric' })
const monthsAlone = utc({ month: 'short' })
const dateOf = (on: string): Date => new Date(`${on}T00:00:00Z`)

/** Formats a day given as `2026-11-21`. */
export const day = (on: string): string => dayNames().format(dateOf(on))
export const longDay = (on: string): string => longDays().format(dateOf(on))
export const shortDay = (on: string): string => shortDays().format(dateOf(on))
export const weekday = (on: string): string => weekdays().format(dateOf(on))
export const month = (on: string): string => monthNames().format(dateOf(on))
/** Formats a month with its year, as `Nov 2026`. */
export const monthOfYear = (on: string): string => monthsOfYears().format(dateOf(on))
/** Formats a month without its year, as “Nov”. */
export const monthName = (on: string): string => monthsAlone().format(dateOf(on))

export type { Interval } from '../../metrics/series/buckets.ts'

/** The fiscal month of a day: the fiscal year, and the number of the month from 1 to 12. */
export function fiscalMonth(on: string): { year: number; number: number } {
  const month = fiscalMonthOf(dayNumber(on)) ?? 0
  return { year: Math.floor(month / 12), number: (month % 12) + 1 }
}
/** `FY2026 P2`. */
export function fiscalName(on: string): string {
  const { year, number } = fiscalMonth(on)
  return `FY${year} P${number}`
}
/** The first day after the fiscal month that begins on a day. */
const afterFiscalMonth = (on: string): string =>
  dayText((fiscalMonthDays(fiscalMonthOf(dayNumber(on)) ?? 0)?.until ?? dayNumber(on)) + 1)

const days = (first: string, last: string): string => `${shortDay(first)} – ${day(last)}`

/** Formats the day, week, month or fiscal month that begins on a day. */
export function bucket(on: string, interval: Interval): string {
  if (interval === 'month') return month(on)
  if (interval === 'fiscal_month')
    return `${fiscalName(on)} (${days(on, plusDays(afterFiscalMonth(on), -1))})`
  return interval === 'week' ? days(on, plusDays(on, 6)) : day(on)
}

/**
 * Formats a range from the day, week, month or fiscal month that begins on `first` to the one that begins on `last`.
 */
export function span(first: string, last: string, interval: Interval): string {
  if (first === last) return bucket(first, interval)
  if (interval === 'month') return `${month(first)} – ${month(last)}`
  if (interval === 'fiscal_month') {
    const dates = `${day(first)} – ${day(plusDays(afterFiscalMonth(last), -1))}`
    return `${fiscalName(first)} – ${fiscalName(last)} (${dates})`
  }
  return `${day(first)} – ${day(interval === 'week' ? plusDays(last, 6) : last)}`
}

/** Returns the first day of each day, week, month or fiscal month from `first` to `last`. */
export function stepsBetween(first: string, last: string, interval: Interval): string[] {
  const all: string[] = []
  for (let on = first; on <= last; on = stepAfter(on, interval)) all.push(on)
  return all
}
function stepAfter(on: string, interval: Interval): string {
  if (interval === 'fiscal_month') return afterFiscalMonth(on)
  if (interval === 'month') return `${plusDays(`${on.slice(0, 7)}-28`, 4).slice(0, 7)}-01`
  return plusDays(on, interval === 'week' ? 7 : 1)
}

/** The last day of the day, week, month or fiscal month that begins on a day. */
export const endOf = (on: string, interval: Interval): string => plusDays(stepAfter(on, interval), -1)

/** The name of an interval, as in “per week”. */
export const intervalName = (interval: Interval): string =>
  interval === 'fiscal_month' ? 'fiscal month' : interval

export type Grain = 'day' | 'week' | 'month' | 'year'
/** A short title of the cohort that begins on a day. */
export function cohortTitle(on: string, grain: Grain): string {
  if (grain === 'year') return on.slice(0, 4)
  return grain === 'month' ? monthOfYear(on) : day(on)
}

/** Adds `days` days to a day. */
export const plusDays = (on: string, days: number): string =>
  new Date(dateOf(on).getTime() + days * DAY_MS).toISOString().slice(0, 10)
/** The first day of the month that is `months` months after that of a day. */
export const monthsAfter = (on: string, months: number): string =>
  dayText(Date.UTC(Number(on.slice(0, 4)), Number(on.slice(5, 7)) - 1 + months) / DAY_MS)
/** The number of months from the month of one day to that of another. */
export const monthsBetween = (from: string, to: string): number =>
  12 * (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) + Number(to.slice(5, 7)) - Number(from.slice(5, 7))
/** The number of days between two days. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((dateOf(to).getTime() - dateOf(from).getTime()) / DAY_MS)

const instants = instantFormat({ dateStyle: 'medium', timeStyle: 'short' })
const zonedInstants = instantFormat({
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
})
const exactInstants = instantFormat({ dateStyle: 'medium', timeStyle: 'medium' })
const clocks = instantFormat({ timeStyle: 'short' })
const dates = instantFormat({ dateStyle: 'medium' })
/** An instant, in the viewer's own time zone. */
export const instant = (at: number | null | undefined): string =>
  at === null || at === undefined ? UNKNOWN : instants().format(at)
/** An instant with the name of the viewer's time zone. */
export const zonedInstant = (at: number): string => zonedInstants().format(at)
/** An instant with its second, in the viewer's own time zone. */
export const instantWithSeconds = (at: number): string => exactInstants().format(at)
export const clock = (at: number): string => clocks().format(at)
export const date = (at: number | null | undefined): string =>
  at === null || at === undefined ? UNKNOWN : dates().format(at)

const relative = whenNeeded(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
/** An instant relative to now: `5 min. ago`, `in 3 days`. */
export function ago(at: number, now: number): string {
  for (const [unit, ms] of STEPS) {
    if (Math.abs(now - at) >= ms) return relative().format(Math.trunc((at - now) / ms), unit)
  }
  return relative().format(0, 'second')
}

/** Capitalizes a text from the server, unless it starts with a bundle id or path. */
export const sentence = (text: string): string =>
  /^\S*[._/]\w/.test(text) ? text : text.slice(0, 1).toUpperCase() + text.slice(1)

/** Formats large integers within a text from the server; days, ids and versions stay unchanged. */
export const grouped = (text: string): string =>
  text.replace(/(?<![\w.,:/-])\d{4,15}(?![\w:/-]|[.,]\d)/g, (digits) => count(Number(digits)))

/** A count with its noun, in English only: `1 link`, `2 links`. */
export const plural = (many: number, one: string, several = `${one}s`): string =>
  `${count(many)} ${many === 1 ? one : several}`

const UNITS: Record<string, string> = { D: 'day', W: 'week', M: 'month', Y: 'year' }

/** Formats an ISO 8601 duration: `P1M` as `1 month`. */
export function period(code: string): string {
  const [, many = '', unit = ''] = /^P(\d+)([DWMY])$/.exec(code) ?? []
  const word = UNITS[unit]
  return word ? plural(Number(many), word) : code
}

const years = utc({ year: 'numeric' })
/** The axis label of a month start: the month, or the year in January. */
export const monthOf = (at: number): string =>
  (new Date(at).getUTCMonth() === 0 ? years() : monthsOfYears()).format(at)

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
/** A size in bytes, as `12.3 MB`. */
export function bytes(many: number): string {
  const step = Math.min(SIZES.length - 1, many < 1 ? 0 : Math.floor(Math.log10(many) / 3))
  return numberFormat({
    style: 'unit',
    unit: SIZES[step] ?? 'byte',
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(many / 1000 ** step)
}

const LENGTHS = [
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
  [1, 'millisecond'],
] as const
/** A duration: `250 ms`, `3 min`. */
export function duration(ms: number): string {
  const [length, unit] = LENGTHS.find(([length]) => ms >= length) ?? LENGTHS[3]
  return numberFormat({ style: 'unit', unit, maximumFractionDigits: ms < 60_000 ? 1 : 0 }).format(ms / length)
}
