/** The annotations of a chart's days. */
import type { InferOutput } from 'valibot'
import type { AnnotationsAnswer } from '../../../api/metrics/annotations.ts'
import { dayNumber } from '../../../metrics/lineage/calendar.ts'
import { appName, useApps } from '../apps.ts'
import { type QueryResult, useQuery } from '../queries.ts'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'

export type Annotations = InferOutput<typeof AnnotationsAnswer>
export type Annotation = Annotations['annotations'][number]

export const ANNOTATIONS = '/api/v1/annotations'
const MAX_SHOWN = 500

/** Whether the points of a chart are days or begin on a day. */
export const isOfDays = (on: readonly string[]): boolean => /^\d{4}-\d\d-\d\d$/.test(on[0] ?? '')

/**
 * The newest annotations, with the names of their apps if there are several. All charts of a view share one request.
 * Guests see none.
 */
export function useAnnotations(): Annotation[] {
  const { state } = useSession()
  const apps = useApps().data?.apps
  const { scope } = useScope()
  const result: QueryResult<Annotations> = useQuery(
    ANNOTATIONS,
    { app: scope.apps.join(','), organization: scope.organization, limit: MAX_SHOWN },
    { wait: state !== 'owner' },
  )
  return (result.data?.annotations ?? []).map((one) =>
    one.app_id === null || (apps?.length ?? 0) < 2
      ? one
      : { ...one, text: `${appName(apps, one.app_id)}: ${one.text}` },
  )
}

/**
 * The texts of the annotations at each point of a chart, oldest first. A point has the days until the next; the last has
 * as many days as the one before it.
 */
export function notesByPoint(
  on: readonly string[],
  annotations: readonly Annotation[],
): Map<number, string[]> {
  const notes = new Map<number, string[]>()
  if (!isOfDays(on)) return notes
  const last = dayNumber(on.at(-1) ?? '1970-01-01')
  const length = on.length < 2 ? 1 : last - dayNumber(on.at(-2) ?? '')
  for (const { annotated_on, text } of annotations.toReversed()) {
    const index = on.findLastIndex((day) => day <= annotated_on)
    if (index < 0 || dayNumber(annotated_on) >= last + length) continue
    notes.set(index, [...(notes.get(index) ?? []), text])
  }
  return notes
}
