/** Response schemas of `/api/v1/metrics` and `/api/v1/overview`. */
import * as v from 'valibot'
import { FACTORS } from '../../metrics/lineage/months.ts'
import { INTERVALS } from '../../metrics/series/buckets.ts'
import { REASON_TEXTS, REASONS } from '../../metrics/series/reasons.ts'
import { converted } from './display.ts'

const withDescription = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description))
const milli = (description: string) => v.optional(withDescription(v.number(), description))

const NamedAnswer = v.object({ name: v.string(), title: v.string(), sentence: v.string() })
const unit = v.picklist(['money', 'count', 'ratio'])
const ratio_of = v.nullable(v.picklist(['money', 'count']))
const kind = withDescription(
  v.picklist(['level', 'flow']),
  'level: the state at the end of a day, week or month. flow: what happened within it',
)

const DefinitionAnswer = v.object({ ...NamedAnswer.entries, formula: v.string() })

export const DefinitionsAnswer = v.object({
  cohorts: withDescription(v.array(DefinitionAnswer), 'Definitions of the cohort metrics'),
  customers: withDescription(
    v.array(DefinitionAnswer),
    'Definitions of the figures of a customer, by field name',
  ),
  coverage: withDescription(
    v.array(v.object({ ...DefinitionAnswer.entries, parts: v.array(NamedAnswer) })),
    'Definitions of the coverage figures, by field name',
  ),
  metrics: v.array(
    v.object({
      ...NamedAnswer.entries,
      formula: v.string(),
      unit,
      ratio_of: withDescription(ratio_of, 'Whether numerator and denominator are money or counts'),
      kind,
      parts: v.array(NamedAnswer),
      views: v.array(NamedAnswer),
      splits: v.array(v.string()),
      filters: v.array(v.string()),
      bases: v.array(v.string()),
      has_refund_days: v.boolean(),
    }),
  ),
})

const NotConverted = v.object({
  currency: v.string(),
  milli: milli('Thousandths of the currency'),
  numerator: v.optional(v.number()),
  denominator: v.optional(v.number()),
})

const figure = (description: string) => v.optional(withDescription(v.nullable(v.number()), description))

const figureFields = {
  milli: figure('Money, in thousandths of the currency. Like every figure, null if unknown, not 0'),
  count: figure('A count'),
  ratio: v.optional(
    withDescription(
      v.nullable(v.number()),
      'A ratio with six decimal places; also null if the denominator is 0',
    ),
  ),
  numerator: figure('Numerator of the ratio: a count, or thousandths of the currency'),
  denominator: figure('Denominator of the ratio'),
  complete: withDescription(
    v.boolean(),
    'true if the period is over, every rate is final, every amount is converted, and nothing counted can still change',
  ),
  not_converted: v.optional(
    withDescription(
      v.array(NotConverted),
      'Amounts without an exchange rate, not included in the figures; absent if there are none',
    ),
  ),
}

/** The figure of a day, week or month. */
export const PointAnswer = v.object({
  on: withDescription(v.string(), 'The first day of the day, week or month'),
  fiscal_month: v.optional(
    withDescription(
      v.string(),
      'Fiscal months only: year and number as in Apple’s finance reports, such as 2026-02',
    ),
  ),
  until_on: v.optional(withDescription(v.string(), 'Fiscal months only: the last day')),
  ...figureFields,
})

/** A code of why a figure is null or incomplete. */
const reason = withDescription(
  v.picklist(REASONS),
  `${REASONS.map((one) => `${one}: ${REASON_TEXTS[one]}`).join(' ')} A later version may add codes.`,
)

/** Why figures are null or incomplete, as ranges of days. */
export const reasonRanges = v.array(v.object({ reason, from_on: v.string(), until_on: v.string() }))

const reasons = withDescription(v.array(reason), 'Why the figure is null or incomplete')

/** The figure of exactly the requested days. */
const ExactAnswer = v.object({
  ...figureFields,
  reasons,
  clipped: withDescription(
    v.array(
      v.object({
        of: withDescription(v.string(), 'The `on` of the point'),
        on: withDescription(v.string(), 'The first day'),
        until_on: withDescription(v.string(), 'The last day'),
        ...figureFields,
        reasons,
      }),
    ),
    'The first and the last point where their week or month is not whole in the requested days: the figures of the part that is',
  ),
})

const SeriesAnswerEntry = v.object({
  value: withDescription(v.nullable(v.string()), 'The value of the dimension; null for the total'),
  others: withDescription(v.number(), 'How many values this series sums up; 0 if it is a single value'),
  part: withDescription(
    v.nullable(v.string()),
    'Part of the metric; null for the total. Parts that are always 0 are absent',
  ),
  range: withDescription(
    ExactAnswer,
    'The figure of exactly the requested days as one interval: the sum of a flow, the last value of a level, the ratio of the sums. null: not known; a churn rate also where the days are not one interval',
  ),
  reasons: withDescription(
    reasonRanges,
    'Why points are null or incomplete, as ranges of their days, which overlap where a point has several reasons',
  ),
  points: v.array(PointAnswer),
})

const Days = v.object({ from_on: v.string(), until_on: v.string() })

const dayRange = {
  from_on: withDescription(v.string(), 'The first day of the points'),
  until_on: withDescription(v.string(), 'The last day of the points, which may not be over'),
  range: withDescription(Days, 'Exactly the requested days, or the days that they are compared with'),
}
/** Progress of recomputing all figures. */
export const rebuilding = withDescription(
  v.nullable(v.object({ done: v.number(), of: v.number() })),
  'Progress of recomputing all figures, in purchases; until it is done, the previous figures are shown',
)
/** How far figures are behind the facts. */
export const behind = withDescription(
  v.nullable(
    v.object({
      lineages: withDescription(v.number(), 'Subscriptions and purchases that are due'),
      report_days: withDescription(v.number(), 'Days of Apple’s reports that the figures do not contain yet'),
      since: withDescription(
        v.nullable(v.number()),
        'When the first became due, in milliseconds since the epoch',
      ),
      reason: withDescription(
        v.picklist(['catching_up', 'store', 'failed', 'formula']),
        'Figures are being computed; the database is read-only; they cannot be computed; or another version of Windfall computed them',
      ),
    }),
  ),
  'How far the figures are behind the facts; null if they are up to date',
)
/** The organization and the apps that the figures contain. */
export const scopeFields = { organization_id: v.string(), apps: v.array(v.string()), environment: v.string() }

/** The setting `metrics.factors` that applied. */
export const month_length = withDescription(
  v.picklist(FACTORS),
  'How prices of days or weeks are converted to months (`metrics.factors`). calendar: a month has 30.4375 days. revenuecat: 30 days or four weeks',
)

export const SeriesSchema = v.object({
  metric: v.string(),
  unit,
  ratio_of,
  kind,
  ...scopeFields,
  time_zone: withDescription(v.string(), 'The time zone of the days; Pacific time for fiscal months'),
  today_on: v.string(),
  interval: v.picklist(INTERVALS),
  split: v.nullable(v.string()),
  currency: withDescription(v.nullable(v.string()), 'The currency of all amounts; null if there are none'),
  converted,
  basis: v.picklist(['gross', 'proceeds']),
  month_length,
  view: v.nullable(v.string()),
  refunds: v.nullable(v.picklist(['refund_day', 'purchase_day'])),
  sources: withDescription(
    v.array(
      v.object({
        app_id: v.string(),
        measure: v.string(),
        source: v.picklist(['reports', 'anchored', 'ledger']),
        from_on: v.string(),
        until_on: v.string(),
        rate: withDescription(
          v.nullable(v.picklist(['day', 'charge'])),
          'How amounts are converted to the base currency: at the rate of each day, or of each charge; null for counts',
        ),
        label: withDescription(
          v.nullable(v.string()),
          'What Apple names or counts differently from the ledger',
        ),
        note: withDescription(v.nullable(v.string()), 'How'),
      }),
    ),
    'The source of each range of days: Apple’s reports, the last report plus changes in the ledger since, or the ledger. Empty: the ledger for all days',
  ),
  cutovers: withDescription(
    v.array(
      v.object({
        app_id: v.string(),
        measure: v.string(),
        on: v.string(),
        at: v.number(),
        to: v.picklist(['ledger', 'reports']),
      }),
    ),
    'The instant, a Pacific midnight, from which the source changes to the ledger, or to the reports',
  ),
  proceeds_known: withDescription(
    v.nullable(v.object({ exact: v.number(), ratio: v.number(), estimated: v.number() })),
    'The range’s proceeds less refunds (of a level, those on the last day), in thousandths, that are known from a report of the same day (exact), derived from a report of another day (ratio), or estimated',
  ),
  first_on: withDescription(v.nullable(v.string()), 'The first day with data'),
  rebuilding,
  behind,
  ...dayRange,
  series: v.array(SeriesAnswerEntry),
  previous: v.nullable(v.object({ ...dayRange, series: v.array(SeriesAnswerEntry) })),
})

export const OverviewSchema = v.object({
  rebuilding,
  organizations: v.array(
    v.object({
      ...scopeFields,
      time_zone: v.string(),
      currency: v.string(),
      converted,
      basis: withDescription(
        v.picklist(['gross', 'proceeds']),
        'The form of all amounts; amounts known only as gross are not included in proceeds',
      ),
      behind,
      month_length,
      today_on: v.string(),
      this_month: Days,
      previous: withDescription(Days, 'The same days of the month before'),
      figures: v.array(
        v.object({
          metric: v.string(),
          part: v.nullable(v.string()),
          unit,
          ratio_of,
          kind,
          currency: v.nullable(v.string()),
          now: PointAnswer,
          previous: PointAnswer,
        }),
      ),
    }),
  ),
})
