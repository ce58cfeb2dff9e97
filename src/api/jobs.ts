/** `/api/v1/jobs`: scheduled jobs, their last run and their next run. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import type { Route } from '../http/route.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE } from './route_defaults.ts'

const nullableInstant = v.nullable(v.number())
const describedText = (description: string) => v.pipe(v.nullable(v.string()), v.description(description))

const JobAnswer = v.object({
  job: v.string(),
  schedule: v.pipe(v.string(), v.description('A cron pattern in UTC, or "off"')),
  running: v.boolean(),
  started_at: nullableInstant,
  finished_at: v.pipe(
    nullableInstant,
    v.description('null while the job runs, or if the process ended during the run'),
  ),
  duration_ms: nullableInstant,
  outcome: describedText('The result of the last run; null for tokens that cannot read everything'),
  error: describedText('Why the last run failed; null for tokens that cannot read everything'),
  failures: v.pipe(v.number(), v.description('Consecutive failures; 0 if the last run succeeded')),
  next_at: v.pipe(nullableInstant, v.description('null if the job is not scheduled')),
})
export const JobsAnswer = v.object({ jobs: v.array(JobAnswer) })

type Deps = { jobs: { list(): readonly v.InferOutput<typeof JobAnswer>[] }; auth: Auth }

export const jobRoutes = ({ jobs, auth }: Deps): Route[] =>
  defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/jobs',
    summary: 'Lists scheduled jobs with the last run, its result and the next run',
    access: auth.reader,
    answer: { description: 'All jobs', schema: JobsAnswer },
    read({ caller: { organization_id, apps } }): v.InferOutput<typeof JobsAnswer> {
      const all = [...jobs.list()]
      if (organization_id === null && apps === null) return { jobs: all }
      // The outcome of a run may name apps that the caller cannot read.
      return { jobs: all.map((job) => ({ ...job, outcome: null, error: null })) }
    },
  })
