/** The metrics of a share link: which ones it can be limited to, and what follows from them. */
import * as v from 'valibot'
import { invalid } from '../../http/parse.ts'
import { isMoney } from '../../metrics/definitions/definition.ts'
import { DEFINITIONS, type MetricName } from '../../metrics/definitions/definitions.ts'
import {
  DERIVATIONS,
  type Derivation,
  derivableFrom,
  SHARED_METRICS,
  type SharedMetric,
} from '../../metrics/definitions/derivable.ts'
import type { Basis } from '../../money.ts'

const isShared = (name: string): name is SharedMetric => SHARED_METRICS.some((one) => one === name)

/** Whether guests of a link for proceeds cannot read the metric, because it is known only as gross. */
const isGrossOnly = (name: SharedMetric): boolean => {
  if (!(name in DEFINITIONS)) return false
  const definition = DEFINITIONS[name as MetricName]
  return isMoney(definition) && !definition.bases.includes('proceeds')
}

/**
 * The distinct metrics with these names, in the order in which lists show them.
 *
 * @throws Refusal 400 `invalid_request` for an unknown name, and for a metric that the basis does not have.
 */
export function resolveMetrics(names: readonly string[], basis: Basis): SharedMetric[] {
  const wrong = names.flatMap((name) => {
    if (!isShared(name)) return `there is no metric ${name}; GET /api/v1/metrics lists them`
    return basis === 'proceeds' && isGrossOnly(name)
      ? `${name} is known only before tax and commission; use basis gross`
      : []
  })
  if (wrong.length > 0) throw invalid(wrong.map((message) => ({ path: 'metrics', message })))
  return SHARED_METRICS.filter((name) => names.includes(name))
}

export const DerivableAnswer = v.object({
  derivable: v.pipe(
    v.array(
      v.object({
        metric: v.pipe(v.nullable(v.string()), v.description('null for a figure that is not a metric')),
        title: v.string(),
        from: v.pipe(
          v.array(v.string()),
          v.description('Metrics of the link, or of an entry before this one'),
        ),
        formula: v.string(),
      }),
    ),
    v.description('What guests can compute from the metrics of the link although it does not show it'),
  ),
})

const rowOf = ({ gives, title, from, formula }: Derivation) => ({
  metric: gives,
  title,
  from: [...from],
  formula,
})

/** What follows from the metrics of a link; nothing from those of a link that shows all. */
export const derivableFields = (metrics: readonly SharedMetric[] | null) => ({
  derivable: (metrics === null ? [] : derivableFrom(metrics)).map(rowOf),
})

/** Every single step from metrics to a figure. */
export const ALL_DERIVABLE = { derivable: DERIVATIONS.map(rowOf) }
