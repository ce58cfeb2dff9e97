/** What may be asked: the shapes in which metrics are answered. */
import * as v from 'valibot'
import { FACTORS } from '../../metrics/lineage/months.ts'
import { INTERVALS } from '../../metrics/series/buckets.ts'

const withDescription = <Schema extends v.GenericSchema>(schema: Schema, words: string) =>
  v.pipe(schema, v.description(words))
const milli = (words: string) => v.optional(withDescription(v.number(), words))

const NamedAnswer = v.object({ name: v.string(), title: v.string(), sentence: v.string() })
const unit = v.picklist(['money', 'count', 'ratio'])
const ratio_of = v.nullable(v.picklist(['money', 'count']))
const kind = withDescription(
  v.picklist(['level', 'flow']),
  'level: what stands at the end of a day, week or month. flow: what happened within it',
)

const DefinitionAnswer = v.object({ ...NamedAnswer.entries, formula: v.string() })

export const DefinitionsAnswer = v.object({
  cohorts: withDescription(v.array(DefinitionAnswer), 'What the metrics of cohorts mean'),
  customers: withDescription(
    v.array(DefinitionAnswer),
    'What the numbers of a customer mean, by their names there',
  ),
  coverage: withDescription(
    v.array(v.object({ ...DefinitionAnswer.entries, parts: v.array(NamedAnswer) })),
    'What the numbers of the coverage mean, by their names there',
  ),
  metrics: v.array(
    v.object({
      ...NamedAnswer.entries,
      formula: v.string(),
      unit,
      ratio_of: withDescription(ratio_of, 'What the numerator and the denominator of a ratio are'),
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
  milli: milli('Thousandths of that currency'),
  numerator: v.optional(v.number()),
  denominator: v.optional(v.number()),
})

const figure = (words: string) => v.optional(withDescription(v.nullable(v.number()), words))

/** A figure on a day, or of a week or month. */
export const PointAnswer = v.object({
  on: withDescription(v.string(), 'The first day of the day, week or month'),
  fiscal_month: v.optional(
    withDescription(
      v.string(),
      'Of a fiscal month: its year and number as in Apple’s finance reports, 2026-02',
    ),
  ),
  until_on: v.optional(withDescription(v.string(), 'Of a fiscal month: its last day')),
  milli: figure(
    'Of money: thousandths of the currency. Like every figure null where nobody knows: a gap, no zero',
  ),
  count: figure('How many'),
  ratio: v.optional(
    withDescription(
      v.nullable(v.number()),
      'Six digits after the point; null where there is nothing to divide by, too',
    ),
  ),
  numerator: figure('Of a ratio: a count, or thousandths of the currency'),
  denominator: figure('What it is divided by'),
  complete: withDescription(
    v.boolean(),
    'It is over, every rate is final, every amount converted, and nothing counted is still open',
  ),
  not_converted: v.optional(
    withDescription(
      v.array(NotConverted),
      'Amounts that no rate is known for, outside the figures; absent where none',
    ),
  ),
})

const SeriesAnswerEntry = v.object({
  value: withDescription(v.nullable(v.string()), 'Of the split; null for the whole'),
  others: withDescription(v.number(), 'Of how many values of the split this is the sum, 0 where it is not'),
  part: withDescription(
    v.nullable(v.string()),
    'Of the metric; null for all of it. What is nothing throughout is absent',
  ),
  points: v.array(PointAnswer),
})

const dayRange = {
  from_on: withDescription(v.string(), 'The first day counted'),
  until_on: withDescription(v.string(), 'The last day counted, which may not be over'),
}
/** How far all figures are recomputed. */
export const rebuilding = withDescription(
  v.nullable(v.object({ done: v.number(), of: v.number() })),
  'How far all figures are recomputed, in purchases; figures are shown as counted before meanwhile',
)
/** How far figures are behind the facts. */
export const behind = withDescription(
  v.nullable(
    v.object({
      lineages: withDescription(v.number(), 'Subscriptions and purchases whose figures are behind'),
      report_days: withDescription(v.number(), 'Days of Apple’s reports that are not summed yet'),
      since: withDescription(
        v.nullable(v.number()),
        'Since when the first of them is, in milliseconds since the epoch',
      ),
      reason: withDescription(
        v.picklist(['catching_up', 'store', 'failed', 'formula']),
        'They are being counted; nothing can be written; they cannot be counted; or another version of Windfall counted them',
      ),
    }),
  ),
  'How far the figures are behind the facts; null where they are not',
)
/** Whose figures. */
export const scopeFields = { organization_id: v.string(), apps: v.array(v.string()), environment: v.string() }

/** The setting `metrics.factors` that applied. */
export const month_length = withDescription(
  v.picklist(FACTORS),
  'How a price of days or weeks is made monthly (`metrics.factors`). calendar: a month has 30.4375 days. revenuecat: 30 days, four weeks',
)

export const SeriesSchema = v.object({
  metric: v.string(),
  unit,
  ratio_of,
  kind,
  ...scopeFields,
  time_zone: withDescription(v.string(), 'Whose days these are; of fiscal months Pacific ones'),
  today_on: v.string(),
  interval: v.picklist(INTERVALS),
  split: v.nullable(v.string()),
  currency: withDescription(v.nullable(v.string()), 'What money is in; null where there is none'),
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
          'In the base currency by the rate of each day, or of each charge; null of what is no money',
        ),
        label: withDescription(
          v.nullable(v.string()),
          'What Apple calls or counts otherwise than the ledger does',
        ),
        note: withDescription(v.nullable(v.string()), 'How'),
      }),
    ),
    'Where days are from: Apple’s reports, the last report and what the ledger saw since, or the ledger alone. Empty: the ledger alone',
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
    'From which instant, a Pacific midnight, another source is shown: the ledger alone, or the reports',
  ),
  proceeds_known: withDescription(
    v.nullable(v.object({ exact: v.number(), ratio: v.number(), estimated: v.number() })),
    'How much of the proceeds is told by a report of its day, by one of another day, or estimated; thousandths',
  ),
  first_on: withDescription(v.nullable(v.string()), 'The first day of which anything is known'),
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
      basis: withDescription(
        v.picklist(['gross', 'proceeds']),
        'What money is told in; money known as gross alone is left out of proceeds',
      ),
      behind,
      month_length,
      today_on: v.string(),
      this_month: v.object(dayRange),
      previous: v.object(dayRange),
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
