/**
 * The text format of Prometheus, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/). A library
 * would hold a second copy of every figure, so the text is made of the figures that the modules have.
 */

type Labels = Readonly<Record<string, string>>

/** A value with its labels. A value of null is not known and is left out. */
export type Sample = { labels?: Labels; value: number | null }

/** A metric. `suffix` of a sample is that of a histogram’s series, such as `_bucket`. */
export type Metric = {
  name: string
  help: string
  type: 'gauge' | 'counter' | 'histogram'
  samples: readonly (Sample & { suffix?: string })[]
}

/** The text of the metrics. Metrics without a known value are left out. */
export const expositionText = (metrics: readonly Metric[]): string => metrics.map(textOf).join('')

function textOf({ name, help, type, samples }: Metric): string {
  const lines = samples.flatMap(({ labels = {}, value, suffix = '' }) =>
    value === null ? [] : `${name}${suffix}${labelText(labels)} ${valueText(value)}\n`,
  )
  if (lines.length === 0) return ''
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

const valueText = (value: number): string => (value === Number.POSITIVE_INFINITY ? '+Inf' : String(value))
