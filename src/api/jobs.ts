/** What may be asked: what happens by the clock: how it went and when it is to happen next. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { defineRoute, type Route } from '../http/route.ts'
import { READ_ROUTE } from './route_defaults.ts'

const at = v.nullable(v.number())
const words = (description: string) => v.pipe(v.nullable(v.string()), v.description(description))

const JobAnswer = v.object({
  job: v.string(),
  schedule: v.pipe(v.string(), v.description('A cron pattern in UTC, or "off"')),
  running: v.boolean(),
  started_at: at,
  finished_at: v.pipe(at, v.description('null while it runs, and when the process ended meanwhile')),
  duration_ms: at,
  outcome: words('What came of the last run; null for tokens that do not read everything'),
  error: words('Why it failed; null for tokens that do not read everything'),
  failures: v.pipe(v.number(), v.description('In a row; 0 when the last run went well')),
  next_at: v.pipe(at, v.description('null where no clock starts it')),
})
export const JobsAnswer = v.object({ jobs: v.array(JobAnswer) })

type Deps = { jobs: { list(): readonly v.InferOutput<typeof JobAnswer>[] }; auth: Auth }

export const jobRoutes = ({ jobs, auth }: Deps): Route[] => [
  defineRoute({
    ...READ_ROUTE,
    path: '/api/v1/jobs',
    summary: 'What happens by the clock: the last run of each job, how it went, and the next',
    access: auth.reader,
    answers: { 200: { description: 'Every job', schema: JobsAnswer } },
    handler({ caller: { organization_id, apps } }): v.InferOutput<typeof JobsAnswer> {
      const all = [...jobs.list()]
      if (organization_id === null && apps === null) return { jobs: all }
      // The outcome of a run may name the apps of others.
      return { jobs: all.map((job) => ({ ...job, outcome: null, error: null })) }
    },
  }),
]
