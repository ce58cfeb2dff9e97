/** The generated part of docs/metrics.md: one section for each metric, from the definitions that the API serves. */
import { COHORT_METRICS } from '../../src/metrics/cohorts/descriptions.ts'
import { CUSTOMER_DESCRIPTIONS } from '../../src/metrics/customers/descriptions.ts'
import { type Definition, isMoney } from '../../src/metrics/definitions/definition.ts'
import { DEFINITIONS, METRIC_NAMES } from '../../src/metrics/definitions/definitions.ts'
import { COVERAGE_DESCRIPTIONS } from '../../src/metrics/reports/descriptions.ts'

/** A name with its title and its sentence, such as a part or a view of a metric. */
type Named = { name: string; title: string; sentence: string }
/** A figure outside the series: of a cohort, of a customer, of the coverage. */
type Figure = Named & { formula: string; parts?: readonly Named[] }

const UNITS = { money: 'money, in thousandths of a currency', count: 'count' }
const RATIOS = { money: 'ratio of two amounts', count: 'ratio of two counts' }
const KINDS = {
  level: 'level: the value at the end of each interval',
  flow: 'flow: the total of each interval',
}

/** Every metric, cohort figure, customer figure and coverage figure, as Markdown without a title of the page. */
export function metricsReference(): string {
  return [
    '## All metrics',
    '`GET /api/v1/metrics/{name}` answers these by day, week, month or fiscal month.',
    indexOf(METRIC_NAMES.map((name) => DEFINITIONS[name])),
    ...METRIC_NAMES.flatMap((name) => metricSection(DEFINITIONS[name])),
    '## Cohorts',
    '`GET /api/v1/cohorts?metric={name}` answers these for groups of customers that began together.',
    ...Object.entries(COHORT_METRICS).flatMap(([name, words]) => figureSection({ name, ...words })),
    '## Customers',
    'Each customer of `GET /api/v1/customers` has these fields.',
    ...CUSTOMER_DESCRIPTIONS.flatMap(figureSection),
    '## Coverage',
    '`GET /api/v1/coverage` compares the transactions that Windfall holds with Apple’s own reports.',
    ...COVERAGE_DESCRIPTIONS.flatMap(figureSection),
  ].join('\n\n')
}

/** A table of all metrics with links to their sections. */
function indexOf(definitions: readonly Definition[]): string {
  const rows = definitions.map(
    ({ name, title, sentence }) => `| [\`${name}\`](#${name}) | ${title} | ${cell(sentence)} |`,
  )
  return ['| name | title | meaning |', '|---|---|---|', ...rows].join('\n')
}

function metricSection(definition: Definition): string[] {
  const { name, title, sentence, formula, unit, ratio_of, kind, parts, views, splits, filters } = definition
  const facts = [
    `- **Unit:** ${unit === 'ratio' ? RATIOS[ratio_of ?? 'count'] : UNITS[unit]}`,
    `- **Kind:** ${KINDS[kind]}`,
    `- **Splits** (\`split=\`): ${codes(splits)}`,
    `- **Filters:** ${codes(filters)}`,
    ...(isMoney(definition) ? [`- **Bases** (\`basis=\`): ${codes(definition.bases)}`] : []),
    ...(definition.has_refund_days ? ['- **Refund days** (`refunds=`): `refund_day`, `purchase_day`'] : []),
  ]
  return [
    `### ${name}`,
    `**${title}.** ${sentence}`,
    formulaText(formula),
    facts.join('\n'),
    ...namedTable('view', views),
    ...namedTable('part', parts),
  ]
}

function figureSection({ name, title, sentence, formula, parts = [] }: Figure): string[] {
  return [`### ${name}`, `**${title}.** ${sentence}`, formulaText(formula), ...namedTable('part', parts)]
}

function namedTable(heading: string, named: readonly Named[]): string[] {
  if (named.length === 0) return []
  const rows = named.map(({ name, title, sentence }) => `| \`${name}\` | ${title} | ${cell(sentence)} |`)
  return [[`| ${heading} | title | meaning |`, '|---|---|---|', ...rows].join('\n')]
}

const formulaText = (formula: string): string => `**Formula:** ${formula}${formula.endsWith('.') ? '' : '.'}`
const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
const cell = (text: string): string => text.replaceAll('|', '\\|')
