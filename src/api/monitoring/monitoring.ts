/** `/internal/metrics`: metrics for Prometheus. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { H3Event } from 'h3'
import type { Auth } from '../../access/auth.ts'
import type { Config } from '../../config/settings.ts'
import { Refusal } from '../../errors.ts'
import { header } from '../../http/body/body.ts'
import { type Access, defineRoute, type Route } from '../../http/route.ts'
import { expositionText } from './exposition.ts'
import { type MonitoringDeps, openMonitoring } from './figures.ts'

export const METRICS_PATH = '/internal/metrics'
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Deps = MonitoringDeps & {
  auth: Auth
  /** The configuration. It is read on each call, because a reload can change it. */
  current: { readonly config: Pick<Config, 'metrics'> }
}

/** Returns a function that reads the metrics as text. */
export function openMetricsText(deps: MonitoringDeps): () => Promise<string> {
  const read = openMonitoring(deps)
  return async () => expositionText(await read())
}

export function monitoringRoutes(deps: Deps): Route[] {
  const read = openMetricsText(deps)
  const access: Access<null> = {
    security: ['read_token', 'session'],
    refusals: { ...deps.auth.reader.refusals, 403: 'not_for_guests, whole_instance_required' },
    admit(event) {
      assertMayRead(deps, event)
      return null
    },
  }

  return [
    defineRoute({
      method: 'GET',
      path: METRICS_PATH,
      tag: 'Operations',
      summary: 'Metrics in the text format of Prometheus',
      description:
        'Needs a read token that covers every app of the instance, or the value of `[metrics] token_file`. A listener of its own, `[metrics] listen`, needs none.',
      access,
      any_host: true,
      answers: { 200: { description: 'The metrics', content_type: METRICS_TYPE } },
      handler: async () =>
        new Response(await read(), {
          headers: { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' },
        }),
    }),
  ]
}

/** @throws Refusal as for every reader; 403 `whole_instance_required` for a token of some apps. */
function assertMayRead({ auth, current }: Deps, event: H3Event): void {
  const { token } = current.config.metrics
  const authorization = header(event, 'authorization')
  if (token !== null && authorization !== undefined && isEqual(authorization, `Bearer ${token}`)) return
  const { organization_id, apps } = auth.reader.admit(event)
  if (organization_id === null && apps === null) return
  throw new Refusal(
    403,
    'whole_instance_required',
    'the token covers some apps only; metrics need one for the whole instance, or that of [metrics] token_file',
  )
}

/** Compares hashes, so that the time reveals neither the length nor a common prefix. */
const isEqual = (one: string, other: string): boolean => timingSafeEqual(hashOf(one), hashOf(other))
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
