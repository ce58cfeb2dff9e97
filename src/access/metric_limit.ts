/** Which metrics a caller may read. A share link can be limited to some. */
import { Refusal } from '../errors.ts'

/** The names of the metrics that a caller may read; null for all. */
export type MetricLimit = readonly string[] | null

/** Whether a caller with this limit may read the metric. */
export const isWithin = (limit: MetricLimit, name: string): boolean => limit === null || limit.includes(name)

/** Every reader of figures calls this, so that a route cannot omit it. @throws Refusal 403 `metric_not_shared`. */
export function assertWithin(limit: MetricLimit, name: string): void {
  if (isWithin(limit, name)) return
  const detail = `this share link does not show ${name}; it shows ${limit?.join(', ')}`
  throw new Refusal(403, 'metric_not_shared', detail)
}
