/** The query parameters of a metric’s series, and how they are checked: range, filters, split, currency and basis. */
import * as v from 'valibot'
import { isDay } from '../../days.ts'
import { type FieldError, Refusal } from '../../errors.ts'
import { jsonSchema } from '../../http/documented.ts'
import { invalid } from '../../http/parse.ts'
import type { Basis } from '../../money.ts'
import type { Definition, Filter, Labelled, Split } from '../definitions/definition.ts'
import { DEFINITIONS, METRIC_NAMES, type MetricName } from '../definitions/definitions.ts'
import type { DayNumber } from '../lineage/calendar.ts'
import type { AttributeFilter, Bucket, Filters } from '../sums/tallies.ts'
import { ANY_WORD, wordList } from '../word_list.ts'
import { COMPARISONS, type Comparison, INTERVALS, type Interval } from './buckets.ts'
import { EXCLUDED_PARTS } from './excluded_parts.ts'
import { type FormulaOptions, formulaOf, type Refunds } from './formulas.ts'
import { rangeErrors, rangeOf } from './range.ts'

/** CSV layouts. long: a line for each point of each series. wide: a line for each point, a column for each series. */
const LAYOUTS = ['long', 'wide'] as const
export type Layout = (typeof LAYOUTS)[number]

const MAX_VALUES = 100

/** A day in a query, YYYY-MM-DD. */
export const day = (wordList: string) =>
  v.pipe(
    v.string(),
    v.check(isDay, 'must be a day, YYYY-MM-DD'),
    jsonSchema({ format: 'date' }),
    v.description(wordList),
  )

/** Parameters that select apps, an environment and the time zone of days. */
export const ScopeParams = v.object({
  app: v.optional(wordList(ANY_WORD, '', 'Bundle ids or app ids')),
  organization: v.optional(
    v.pipe(v.string(), v.description('An organization id. Required where the token reads several')),
  ),
  environment: v.optional(v.picklist(['production', 'sandbox']), 'production'),
  zone: v.optional(
    v.pipe(
      v.picklist(['own', 'pacific']),
      v.description('own: days in the organization’s time zone. pacific: days as in Apple’s reports'),
    ),
    'own',
  ),
})

/** The parameters of `/metrics/{name}`, all optional. */
export const SeriesParams = v.object({
  ...ScopeParams.entries,
  from: v.optional(
    day(
      'The first day, not in the future and at most five years before the last. Points have its week, month or fiscal month whole, `range` does not',
    ),
  ),
  to: v.optional(day('The last day, not before `from`. A day after today is today')),
  interval: v.optional(
    v.pipe(
      v.picklist(INTERVALS),
      v.description(
        'Weeks begin on Monday. fiscal_month: the months by which Apple pays, in Pacific days whatever `zone` is',
      ),
    ),
    'day',
  ),
  product: v.optional(wordList(ANY_WORD, '', 'Product ids')),
  country: v.optional(
    wordList(
      /^[A-Z]{3}$/,
      'must be country codes of three letters, such as USA',
      'Storefronts, ISO 3166 alpha-3',
    ),
  ),
  period: v.optional(
    wordList(/^P\d{1,4}[DWMY]$/, 'must be periods such as P1M', 'Subscription periods, ISO 8601'),
  ),
  offer: v.optional(
    wordList(
      /^(trial|free_offer|intro|offer|paid|none)$/,
      'must be among trial, free_offer, intro, offer, paid, none',
      'Kinds of offer',
    ),
  ),
  attribute: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[^="\\]{1,64}=/, 'must be a key, "=" and a value, such as plan=pro'),
      v.description('Only subscriptions linked to users with this attribute, as key=value. Slower'),
    ),
  ),
  split: v.optional(
    v.pipe(
      v.string(),
      v.description('One of the metric’s `splits`: one series for each value, the largest first'),
    ),
  ),
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/, 'must be a whole number'),
      jsonSchema({ type: 'integer', minimum: 1, maximum: MAX_VALUES, pattern: undefined }),
      v.transform(Number),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(MAX_VALUES, `must be at most ${MAX_VALUES}`),
      v.description(`How many values of a split have a series, 1 to ${MAX_VALUES}. The others share one`),
    ),
    '20',
  ),
  find: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(100, 'must have at most 100 characters'),
      v.description(
        'With a split, only values that contain these letters and digits, whatever their case. The others have no series',
      ),
    ),
  ),
  currency: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, such as EUR'),
      v.description(
        'Only charges in this currency, unconverted. By default, everything in the base currency',
      ),
    ),
  ),
  basis: v.optional(
    v.pipe(
      v.picklist(['gross', 'proceeds']),
      v.description('gross: what customers were charged. proceeds: after tax and Apple’s commission'),
    ),
    'gross',
  ),
  compare: v.optional(
    v.pipe(
      v.picklist(COMPARISONS),
      v.description(
        'Adds other days. days: as many days directly before the range. start: the day before it, at whose end a level is that at the start of the range. previous: as days; as many intervals if the range begins with one. week, month, quarter, fiscal_month and year: the same days of the one before',
      ),
    ),
  ),
  refunds: v.optional(
    v.pipe(v.picklist(['refund_day', 'purchase_day']), v.description('The day on which a refund counts')),
  ),
  view: v.optional(v.pipe(v.string(), v.description('One of the metric’s `views`. By default, the first'))),
  layout: v.optional(
    v.pipe(
      v.picklist(LAYOUTS),
      v.description(
        'Layout of CSV. long: one line for each point of each series. wide: one column for each series',
      ),
    ),
  ),
  part: v.optional(
    v.pipe(
      v.string(),
      v.description('One part of the metric. By default, all parts; with a split, the total'),
    ),
  ),
})

/** The parameters of the overview. */
export const OverviewParams = v.object({ ...ScopeParams.entries, basis: SeriesParams.entries.basis })

export type ScopeInput = v.InferOutput<typeof ScopeParams>
type SeriesInput = v.InferOutput<typeof SeriesParams>

/** A valid request for one metric. */
export type SeriesRequest = {
  definition: Definition
  name: MetricName
  interval: Interval
  /** The requested days. */
  range: Bucket
  filters: Filters
  attribute: AttributeFilter | null
  split: Split | null
  limit: number
  /** Only values of the split that contain this text. */
  find: string | null
  currency: string | null
  basis: Basis
  /** What the range is compared with; null for nothing. */
  comparison: Comparison | null
  refunds: Refunds
  view: string | null
  /** null requests the total and all parts or, with a split, the total alone. */
  part: string | null
}

/** Returns the metric of this name. @throws Refusal 400 `unknown_metric` with the existing names. */
export function requireMetric(name: string): MetricName {
  const found = METRIC_NAMES.find((one) => one === name)
  if (found) return found
  throw new Refusal(400, 'unknown_metric', `unknown metric ${name}; use one of: ${METRIC_NAMES.join(', ')}`)
}

/**
 * Resolves the parameters of a request as of a day.
 *
 * @throws Refusal 400 `invalid_request` that lists all errors.
 */
export function resolveRequest(name: MetricName, query: SeriesInput, today: DayNumber): SeriesRequest {
  const definition: Definition = DEFINITIONS[name]
  const errors = [...errorsIn(definition, query), ...rangeErrors(query, today)]
  if (errors.length > 0) throw invalid(errors)
  const { product, country, period, offer } = query
  const options = formulaOptions(definition, query)
  assertPart(name, options, query.part)
  return {
    definition,
    name,
    interval: query.interval,
    range: rangeOf(query, today),
    filters: {
      ...(product && { product }),
      ...(country && { country }),
      ...(period && { period }),
      ...(offer && { offer }),
    },
    attribute: query.attribute === undefined ? null : attributeOf(query.attribute),
    split: definition.splits.find((one) => one === query.split) ?? null,
    limit: query.limit,
    find: query.find ?? null,
    currency: query.currency ?? null,
    basis: query.basis,
    comparison: query.compare ?? null,
    refunds: options.refunds,
    view: options.view,
    part: query.part ?? null,
  }
}

const formulaOptions = ({ views }: Definition, { view, refunds, interval }: SeriesInput): FormulaOptions => ({
  view: view ?? views[0]?.name ?? null,
  refunds: refunds ?? 'refund_day',
  interval,
})

/** Refuses a part that the view, or the metric with refunds on these days, does not have. The counts of excluded purchases exist in all views. */
function assertPart(name: MetricName, options: FormulaOptions, part: string | undefined): void {
  if (part === undefined || EXCLUDED_PARTS.some((one) => one === part)) return
  const parts = formulaOf(name, options).lines.flatMap((line) => line.part ?? [])
  if (parts.includes(part)) return
  const { view, refunds } = options
  const whole = view === null ? `${name} with refunds=${refunds}` : `the view ${view}`
  const message = `${whole} has no part ${part}; it has: ${parts.join(', ') || 'none'}`
  throw invalid([{ path: 'part', message }])
}

const FILTER_NAMES = [
  'product',
  'country',
  'period',
  'offer',
  'currency',
  'attribute',
] as const satisfies Filter[]

function errorsIn(definition: Definition, query: SeriesInput): FieldError[] {
  const { name, filters, splits, parts, views, bases, has_refund_days } = definition
  const errors: FieldError[] = FILTER_NAMES.filter(
    (one) => query[one] !== undefined && !filters.includes(one),
  ).map((one) => ({ path: one, message: `${name} has no filter ${one}; it has: ${filters.join(', ')}` }))
  const { split, view, part, basis, refunds } = query
  if (query.find !== undefined && split === undefined) errors.push({ path: 'find', message: 'needs a split' })
  if (split !== undefined && !splits.some((one) => one === split))
    errors.push({ path: 'split', message: `${name} has no split ${split}; it has: ${splits.join(', ')}` })
  if (view !== undefined && !views.some((one) => one.name === view))
    errors.push({ path: 'view', message: `${name} has no view ${view}; it has: ${namesOf(views)}` })
  if (part !== undefined && !parts.some((one) => one.name === part))
    errors.push({ path: 'part', message: `${name} has no part ${part}; it has: ${namesOf(parts)}` })
  if (!bases.includes(basis))
    errors.push({
      path: 'basis',
      message: `${name} is not available as ${basis}; use basis=${bases.join(' or ')}`,
    })
  if (basis === 'proceeds' && query.attribute !== undefined)
    errors.push({ path: 'basis', message: 'proceeds are not available by attribute; use basis=gross' })
  if (refunds !== undefined && !has_refund_days)
    errors.push({ path: 'refunds', message: `${name} has no refunds; use revenue` })
  return errors
}

const namesOf = (some: readonly Labelled[]): string =>
  some.length === 0 ? 'none' : some.map(({ name }) => name).join(', ')

/** The JSON forms of an attribute’s value: a string, and a number, boolean or null if the text is a valid one. */
function attributeOf(text: string): AttributeFilter {
  const at = text.indexOf('=')
  const value = text.slice(at + 1)
  const isLiteral = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(value)
  const json = [JSON.stringify(value), ...(isLiteral ? [JSON.stringify(JSON.parse(value))] : [])]
  return { key: text.slice(0, at), json }
}
