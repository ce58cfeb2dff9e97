/** `/readyz`: readiness. The HTTP server itself has the liveness endpoint, `/healthz`. */
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
      'Checks readiness: database writable, not shutting down, Apple’s root certificate valid; lists last job runs',
    access: PUBLIC,
    any_host: true,
    answers: {
      200: { description: 'Ready', schema: Readiness },
      503: { description: 'Not ready; `checks` lists the reasons', schema: Readiness },
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

/**
 * Removes the outcome and the error message. They may contain private names, and `/readyz` needs no authentication.
 */
function publicJobState({ job, running, started_at, finished_at, duration_ms, failures, next_at }: JobState) {
  return { job, running, started_at, finished_at, duration_ms, failures, next_at }
}
