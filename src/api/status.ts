/** `/api/v1/status` and `/api/v1/apps/health`: findings, and the health of each app. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope, list, resolveApps } from '../access/scope.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Accounts } from '../apps/accounts.ts'
import type { AppleClients } from '../apps/apple_clients.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Products } from '../apps/products.ts'
import type { Clock } from '../clock.ts'
import type { Health } from '../health/collect_findings.ts'
import type { Finding } from '../health/findings.ts'
import type { SilenceDetector } from '../health/silence.ts'
import { defineRoute, type Route } from '../http/route.ts'
import type { History, HistoryProgress } from '../ledger/history/history.ts'
import { HISTORY_DEPTH_MS } from '../ledger/history/windows.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'
import { HealthAnswer, StatusAnswer } from './status_answers.ts'

const HealthQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
})

type Deps = {
  health: Health
  clock: Clock
  apps: Apps
  accounts: Accounts
  appleClients: Pick<AppleClients, 'keyStatus'>
  history: Pick<History, 'progress'>
  silenceDetector: SilenceDetector
  imports: Pick<Imports, 'counts'>
  products: Pick<Products, 'list'>
  auth: Auth
}

const LEVELS = { fault: 'error', warning: 'warning', notice: 'notice', ok: 'ok' } as const

export function statusRoutes(deps: Deps): Route[] {
  const { auth, apps, clock, health } = deps

  async function status(accessScope: AccessScope): Promise<v.InferOutput<typeof StatusAnswer>> {
    const mayRead = readableBy(accessScope, appsInScope(accessScope, apps))
    const found = (await health.findings()).filter(mayRead)
    return { level: LEVELS[found[0]?.state ?? 'ok'], checked_at: clock(), rows: found.map(rowOf) }
  }

  return [
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/status',
      summary: 'Lists findings, most severe first: gaps, keys, jobs, imports, pending notifications',
      description: 'Findings about the whole instance are only visible to callers that can read everything.',
      access: auth.reader,
      answers: { 200: { description: 'The findings; no rows if there are none', schema: StatusAnswer } },
      handler: ({ caller }) => status(caller),
    }),
    defineRoute({
      ...READ_ROUTE,
      path: '/api/v1/apps/health',
      summary: 'Shows each app’s notifications, reports, history, keys and products',
      access: auth.reader,
      query: HealthQuery,
      answers: { 200: { description: 'Each app that the caller can read', schema: HealthAnswer } },
      refusals: UNKNOWN_APP,
      handler({ caller, query: { app } }): v.InferOutput<typeof HealthAnswer> {
        const ids = app?.flatMap((name) => resolveApps(name, caller, apps))
        const chosen = appsInScope(caller, apps).filter(({ id }) => ids?.includes(id) ?? true)
        return { apps: chosen.map((one) => healthOf(one, deps)) }
      },
    }),
  ]
}

/** Findings about an app or organization need access to it; all others need access to everything. */
function readableBy(accessScope: AccessScope, within: readonly App[]): (finding: Finding) => boolean {
  const isWhole = accessScope.organization_id === null && accessScope.apps === null
  return ({ details }) => {
    if (isWhole) return true
    if (details?.app_id !== undefined) return within.some(({ id }) => id === details.app_id)
    return (
      details?.organization_id !== undefined &&
      details.organization_id === accessScope.organization_id &&
      accessScope.apps === null
    )
  }
}

const rowOf = ({ state, subject, text, details }: Finding) => ({
  id: details?.id ?? subject,
  level: LEVELS[state],
  title: details?.title ?? subject,
  detail: text,
  action: details?.action ?? null,
  since: details?.since ?? null,
  app_id: details?.app_id ?? null,
  progress: details?.progress ?? null,
})

function healthOf({ id, bundle_id, organization_id, ...app }: App, deps: Deps) {
  const { silenceDetector, history, accounts, appleClients, products } = deps
  const account = accounts.forOrganization(organization_id)
  const listed = products.list(id).filter(({ gone_at }) => gone_at === null)
  const own = history.progress().filter(({ app_id }) => app_id === id)
  return {
    app_id: id,
    bundle_id,
    organization_id,
    name: app.name,
    source: app.source,
    connected_at: app.created_at,
    notifications: (['production', 'sandbox'] as const).map((environment) => ({
      environment,
      ...silenceDetector.activity(id, environment),
      gaps_open: own
        .filter((one) => one.environment === environment)
        .flatMap(({ gaps }) => gaps.filter(({ filled_at }) => filled_at === null)).length,
    })),
    reports: reportsOf(organization_id, deps),
    history: own.map(historyOf),
    keys: {
      connect: appleClients.keyStatus(account?.connect ?? null),
      purchases: appleClients.keyStatus(account?.purchases ?? null),
    },
    products: { count: listed.length, without_period: listed.filter(({ period }) => period === null).length },
  }
}

/** Reports belong to a whole organization. */
function reportsOf(organization_id: string, { imports }: Deps) {
  const counts = imports.counts(organization_id)
  const days = (...states: string[]): number =>
    counts.filter(({ state }) => states.includes(state)).reduce((sum, one) => sum + one.days, 0)
  const here = counts.filter(({ kind, state }) => kind === 'sales' && (state === 'done' || state === 'empty'))
  return {
    newest_on:
      here
        .map(({ last_day }) => last_day)
        .sort()
        .at(-1) ?? null,
    done: days('done', 'empty', 'missing'),
    of: days('done', 'empty', 'missing', 'not_yet', 'failed'),
    failed: days('failed'),
  }
}

function historyOf({ environment, has_key, backfill, watermark }: HistoryProgress) {
  const left = backfill === null ? null : (backfill.until_at - backfill.read_until_at) / HISTORY_DEPTH_MS
  return {
    environment,
    has_key,
    stage: backfill?.stage ?? null,
    progress: left === null ? null : Math.round(Math.min(1, Math.max(0, 1 - left)) * 1_000) / 1_000,
    problem: backfill?.problem ?? watermark?.problem ?? null,
    compared_until_at: watermark?.compared_until_at ?? null,
  }
}
