/** The state of a job's last run. */
import type { InferOutput } from 'valibot'
import type { JobsAnswer } from '../../../api/jobs.ts'

export type Job = InferOutput<typeof JobsAnswer>['jobs'][number]

/** Whether the last run could do nothing yet: the server begins such an outcome with this word. */
export const isWaiting = ({ outcome }: Pick<Job, 'outcome'>): boolean =>
  outcome?.startsWith('waiting ') ?? false
