/** `/readyz`: readiness. The HTTP server itself has the liveness endpoint, `/healthz`. */
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { defineRoute, PUBLIC, type Route } from '../http/route.ts'
import type { Stoppages } from '../stoppages.ts'
import type { Store } from '../store/store.ts'

const Readiness = v.object({
  status: v.pipe(
    v.picklist(['ready', 'degraded', 'not_ready']),
    v.description(
      'degraded: requests are served, but an error has stopped alerts or webhooks for five minutes',
    ),
  ),
  checks: v.object({
    database_writable: v.boolean(),
    shutting_down: v.boolean(),
    root_certificate_valid: v.boolean(),
    alerts_running: v.boolean(),
    forwarding_running: v.boolean(),
  }),
  root_certificate_expires_at: v.number(),
})

type Deps = {
  store: Store
  clock: Clock
  stoppages: Pick<Stoppages, 'isStanding'>
  closing: AbortSignal
  root_expires_at: number
}

export const probeRoutes = ({ store, clock, stoppages, closing, root_expires_at }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/readyz',
    tag: 'Operations',
    summary:
      'Checks readiness: database writable, not shutting down, Apple’s root certificate valid, alerts and webhooks not stopped by an error',
    access: PUBLIC,
    any_host: true,
    answers: {
      200: { description: 'Ready, or degraded; `checks` lists the reasons', schema: Readiness },
      503: { description: 'Not ready; `checks` lists the reasons', schema: Readiness },
    },
    async handler({ event }) {
      const checks = {
        database_writable: await store.isWritable(),
        shutting_down: closing.aborted,
        root_certificate_valid: clock() < root_expires_at,
        alerts_running: !stoppages.isStanding('alerts'),
        forwarding_running: !stoppages.isStanding('forwarding'),
      }
      const isReady = checks.database_writable && !checks.shutting_down && checks.root_certificate_valid
      const isRunning = checks.alerts_running && checks.forwarding_running
      if (!isReady) event.res.status = 503
      return {
        status: isReady ? (isRunning ? 'ready' : 'degraded') : 'not_ready',
        checks,
        root_certificate_expires_at: root_expires_at,
      }
    },
  }),
]
