/** What may be asked: whether this instance can do its work now. */
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { defineRoute, PUBLIC, type Route } from '../http/route.ts'
import type { JobState, Jobs } from '../jobs/jobs.ts'
import type { Store } from '../store/store.ts'

const Readiness = v.object({
  status: v.picklist(['ready', 'not_ready']),
  checks: v.object({
    database_writable: v.boolean(),
    shutting_down: v.boolean(),
    root_certificate_valid: v.boolean(),
  }),
  root_certificate_expires_at: v.number(),
  jobs: v.array(
    v.object({
      job: v.string(),
      running: v.boolean(),
      started_at: v.nullable(v.number()),
      finished_at: v.nullable(v.number()),
      duration_ms: v.nullable(v.number()),
      failures: v.number(),
      next_at: v.nullable(v.number()),
    }),
  ),
})

type Deps = { store: Store; jobs: Jobs; clock: Clock; closing: AbortSignal; root_expires_at: number }

export const probeRoutes = ({ store, jobs, clock, closing, root_expires_at }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/readyz',
    tag: 'Operations',
    summary:
      'Can it take requests: database writable, not shutting down, Apple’s root in force; last job runs',
    access: PUBLIC,
    any_host: true,
    answers: {
      200: { description: 'It can', schema: Readiness },
      503: { description: 'It cannot; the checks say why', schema: Readiness },
    },
    async handler({ event }) {
      const checks = {
        database_writable: await store.isWritable(),
        shutting_down: closing.aborted,
        root_certificate_valid: clock() < root_expires_at,
      }
      const isReady = checks.database_writable && !checks.shutting_down && checks.root_certificate_valid
      if (!isReady) event.res.status = 503
      return {
        status: isReady ? 'ready' : 'not_ready',
        checks,
        root_certificate_expires_at: root_expires_at,
        jobs: jobs.list().map(publicJobState),
      }
    },
  }),
]

/** Everybody may ask, and words may name what not everybody may know. */
function publicJobState({ job, running, started_at, finished_at, duration_ms, failures, next_at }: JobState) {
  return { job, running, started_at, finished_at, duration_ms, failures, next_at }
}
