/**
 * The display currency: converts the amounts of an answer from their currency to another one, at the newest kept rate.
 * One rate for the whole answer keeps sums, shares and ratios as they are.
 */
import * as v from 'valibot'
import type { Clock } from '../../clock.ts'
import { dayOfUtc } from '../../days.ts'
import type { Refusal } from '../../errors.ts'
import { invalid } from '../../http/parse.ts'
import type { Figure } from '../../metrics/series/formula_lines.ts'
import type { OverviewAnswer } from '../../metrics/series/overview.ts'
import type { Point } from '../../metrics/series/points.ts'
import type { SeriesAnswer, SeriesRange } from '../../metrics/series/series.ts'
import type { Rates } from '../../rates/rates.ts'
import { yieldToEventLoop } from '../../turns.ts'

/** The query parameter that names the display currency. */
export const DisplayParam = {
  display_currency: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Z]{3}$/, 'must be a currency of three capital letters, such as EUR'),
      v.description(
        'Converts every amount of the answer to this currency, at the newest exchange rate of the two currencies',
      ),
    ),
  ),
}

/** How the amounts of an answer were converted; null if they were not. */
export const converted = v.pipe(
  v.nullable(
    v.object({
      from: v.pipe(v.string(), v.description('The currency of the figures before')),
      rate: v.pipe(v.string(), v.description('One unit of `from` in units of `currency`, rounded')),
      rated_on: v.pipe(v.string(), v.description('The day of the older of the two rates')),
    }),
  ),
  v.description('The conversion to `display_currency`; null if the amounts are not converted'),
)

type Converted = v.InferOutput<typeof converted>
type Convert = (amount_milli: number) => number
type RatioOf = Pick<SeriesAnswer, 'ratio_of'>
/** The display currency of an answer, and how its amounts are converted to it. */
type Shown = { currency: string; convert: Convert; converted: Converted }
type ProfileAmounts = {
  customer: { currency: string | null }
  lineages: readonly object[]
  transactions: readonly object[]
  proceeds: object | null
}

/** `to` is the display currency; undefined for the currency of the answer. */
export function openDisplay({ rates, clock }: { rates: Pick<Rates, 'conversion'>; clock: Clock }) {
  /** @throws Refusal 400 `invalid_request` if no rate of the two currencies is known. */
  function shownIn(from: string | null, to: string | undefined): Shown | null {
    if (from === null || to === undefined || to === from) return null
    const found = rates.conversion(from, to, dayOfUtc(clock()))
    if (found === null) throw noRate(from, to)
    const { rate, rated_on, convert } = found
    return { currency: to, convert, converted: { from, rate, rated_on } }
  }

  return {
    /** Converts amounts in a field named `milli` or `…_milli`, and those of `proceeds_known`. */
    fields: <Answer extends { currency: string | null }>(answer: Answer, to: string | undefined) =>
      showFields(answer, shownIn(answer.currency, to)),
    /** Converts a metric’s series, with the numerators and denominators of a ratio of money. */
    series: (answer: SeriesAnswer, to: string | undefined) =>
      showSeries(answer, shownIn(answer.currency, to)),
    /** Converts the figures of a customer and the base amounts of the purchases. Billed amounts keep their currency. */
    profile: <Answer extends ProfileAmounts>(answer: Answer, to: string | undefined) =>
      showProfile(answer, shownIn(answer.customer.currency, to)),
    /** Converts the figures of each organization. */
    overview: ({ organizations, ...answer }: OverviewAnswer, to: string | undefined) => ({
      ...answer,
      organizations: organizations.map((one) => showOrganization(one, shownIn(one.currency, to))),
    }),
  }
}

const noRate = (from: string, to: string): Refusal =>
  invalid([{ path: 'display_currency', message: `no exchange rate between ${from} and ${to} is known` }])

function showFields<Answer extends { currency: string | null }>(
  answer: Answer,
  shown: Shown | null,
): Answer & { converted: Converted } {
  if (shown === null) return { ...answer, converted: null }
  const { convert, ...fields } = shown
  return { ...convertFields(answer, convert, isAmount), ...fields }
}

async function showSeries(
  answer: SeriesAnswer,
  shown: Shown | null,
): Promise<SeriesAnswer & { converted: Converted }> {
  if (shown === null) return { ...answer, converted: null }
  const { convert, ...fields } = shown
  return {
    ...answer,
    ...(await convertRange(answer, answer, convert)),
    previous: answer.previous && (await convertRange(answer, answer.previous, convert)),
    proceeds_known: answer.proceeds_known && convertValues(answer.proceeds_known, convert),
    ...fields,
  }
}

function showProfile<Answer extends ProfileAmounts>(answer: Answer, shown: Shown | null) {
  const customer = showFields(answer.customer, shown)
  if (shown === null) return { ...answer, customer }
  const { lineages, transactions, proceeds } = answer
  const purchases = convertFields({ lineages, transactions, proceeds }, shown.convert, isBaseAmount)
  return { ...answer, ...purchases, customer }
}

function showOrganization(one: OverviewAnswer['organizations'][number], shown: Shown | null) {
  if (shown === null) return { ...one, converted: null }
  const { convert, currency, converted: from } = shown
  const figures = one.figures.map((figure) => {
    if (figure.currency === null) return figure
    const pointIn = (point: Point) => convertPoint(figure, point, convert)
    return { ...figure, currency, now: pointIn(figure.now), previous: pointIn(figure.previous) }
  })
  return { ...one, figures, currency, converted: from }
}

async function convertRange(money: RatioOf, range: SeriesRange, convert: Convert): Promise<SeriesRange> {
  const series: SeriesRange['series'] = []
  for (const one of range.series) {
    await yieldToEventLoop()
    const figureIn = <One extends Figure>(figure: One) => convertPoint(money, figure, convert)
    const exact = { ...figureIn(one.range), clipped: one.range.clipped.map(figureIn) }
    series.push({ ...one, range: exact, points: one.points.map(figureIn) })
  }
  return { ...range, series }
}

/** Amounts without an exchange rate keep their own currency. */
function convertPoint<One extends Figure>({ ratio_of }: RatioOf, point: One, convert: Convert): One {
  const { milli, numerator, denominator } = point
  if (ratio_of !== 'money') return typeof milli === 'number' ? { ...point, milli: convert(milli) } : point
  return {
    ...point,
    ...(typeof numerator === 'number' && { numerator: convert(numerator) }),
    ...(typeof denominator === 'number' && { denominator: convert(denominator) }),
  }
}

const convertValues = <Values extends Record<string, number>>(values: Values, convert: Convert): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)])) as Values

/** Amounts by currency, which keep it. */
const KEPT = ['not_converted', 'unconverted']

/** The amount of a refund is in the currency that was billed. */
const isAmount = (name: string): boolean => /(?:^|_)milli$/.test(name) && name !== 'amount_milli'
const isBaseAmount = (name: string): boolean => /(?:^|_)base_milli$/.test(name)

/** A copy with the numbers converted whose field name `isConverted` selects. */
function convertFields<Value>(value: Value, convert: Convert, isConverted: (name: string) => boolean): Value {
  if (Array.isArray(value)) return value.map((one) => convertFields(one, convert, isConverted)) as Value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, one]: [string, unknown]) => {
    if (KEPT.includes(name)) return [name, one]
    if (name === 'proceeds_known' && one !== null)
      return [name, convertValues(one as Record<string, number>, convert)]
    if (typeof one === 'number') return [name, isConverted(name) ? convert(one) : one]
    return [name, convertFields(one, convert, isConverted)]
  })
  return Object.fromEntries(entries) as Value
}
