/** The metrics and cohorts, from the API's definitions. */
import type { InferOutput } from 'valibot'
import type { DefinitionsAnswer } from '../../../api/metrics/answers.ts'
import { COHORT_NAMES, cohortPath } from '../cohorts/cohort_query.ts'
import { groupsOf } from '../metrics/groups.ts'
import { isHidden } from '../metrics/metric_query.ts'
import type { Session } from '../session.ts'
import type { Choice } from './choice.ts'

type Definitions = InferOutput<typeof DefinitionsAnswer>
type Viewer = Pick<Session, 'state' | 'basis' | 'metrics'>

const spoken = (name: string): string => name.replaceAll('_', ' ')

/** The metrics that the session may see. `href` adds the scope to a path. */
export function metricChoices(
  { metrics, cohorts }: Pick<Definitions, 'metrics' | 'cohorts'>,
  viewer: Viewer,
  href: (path: string) => string,
): Choice[] {
  const shown = groupsOf(metrics.filter((definition) => !isHidden(viewer, definition)))
  const ofMetrics = shown.flatMap((group) =>
    group.metrics.map(({ name, title }) => ({
      name,
      title,
      note: group.title,
      href: href(`/metrics/${name}`),
    })),
  )
  const ofCohorts = COHORT_NAMES.flatMap((name) => {
    const title = cohorts.find((one) => one.name === name)?.title
    return title === undefined
      ? []
      : [{ name, title, note: 'Cohorts', href: `${href(cohortPath(name, viewer))}#${name}` }]
  })
  return [...ofMetrics, ...ofCohorts].map(({ name, title, note, href }) => ({
    id: `metric:${name}`,
    group: 'Metrics',
    title,
    note,
    words: `${spoken(name)} ${note}`,
    icon: 'chart',
    href,
  }))
}
