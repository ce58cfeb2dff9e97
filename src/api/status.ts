/** `/api/v1/status` and `/api/v1/apps/health`: findings, and the health of each app. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope, list, resolveApps } from '../access/scope.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Accounts } from '../apps/accounts.ts'
import type { AppleClients } from '../apps/apple_clients.ts'
import type { App, Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Products } from '../apps/products.ts'
import type { Clock } from '../clock.ts'
import type { Doctor } from '../doctor/doctor.ts'
import { openVerdict } from '../doctor/verdict.ts'
import type { Forwarding } from '../forwarding/forwarding.ts'
import type { Health } from '../health/collect_findings.ts'
import { type Finding, textOfFinding } from '../health/findings.ts'
import type { SilenceDetector } from '../health/silence.ts'
import type { Route } from '../http/route.ts'
import type { History, HistoryProgress } from '../ledger/history/history.ts'
import { HISTORY_DEPTH_MS } from '../ledger/history/windows.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { Store } from '../store/store.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'
import { HealthAnswer, StatusAnswer } from './status_answers.ts'

const HealthQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
})

type Deps = {
  health: Health
  store: Store
  doctor: Pick<Doctor, 'last'>
  forwarding: Pick<Forwarding, 'unsteady'>
  clock: Clock
  apps: Apps
  accounts: Accounts
  appleClients: Pick<AppleClients, 'keyStatus'>
  history: Pick<History, 'progress'>
  silenceDetector: SilenceDetector
  imports: Pick<Imports, 'counts'>
  products: Pick<Products, 'list'>
  organizations: Pick<Organizations, 'get'>
  auth: Auth
}

const LEVELS = { fault: 'error', warning: 'warning', notice: 'notice', ok: 'ok' } as const

export function statusRoutes(deps: Deps): Route[] {
  const { auth, apps, clock, health } = deps
  const verdict = openVerdict(deps)

  async function status(accessScope: AccessScope): Promise<v.InferOutput<typeof StatusAnswer>> {
    const mayRead = openReadableCheck(accessScope, appsInScope(accessScope, apps))
    const all = await health.findings()
    const findings = all.filter(mayRead)
    return {
      level: LEVELS[findings[0]?.state ?? 'ok'],
      checked_at: clock(),
      verdict: readsEverything(accessScope) ? verdict.of(all) : null,
      rows: findings.map(findingRow),
    }
  }

  return [
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/status',
      summary: 'Lists findings, most severe first: gaps, keys, jobs, imports, pending notifications',
      description: 'Findings about the whole instance are only visible to callers that can read everything.',
      access: auth.reader,
      answer: { description: 'The findings; no rows if there are none', schema: StatusAnswer },
      read: ({ caller }) => status(caller),
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/apps/health',
      summary: 'Shows each app’s notifications, reports, history, keys and products',
      access: auth.reader,
      query: HealthQuery,
      answer: { description: 'Each app that the caller can read', schema: HealthAnswer },
      refusals: UNKNOWN_APP,
      read({ caller, query: { app } }): v.InferOutput<typeof HealthAnswer> {
        const appIds = app?.flatMap((name) => resolveApps(name, caller, apps))
        const chosen = appsInScope(caller, apps).filter(({ id }) => appIds?.includes(id) ?? true)
        return { apps: chosen.map((one) => appHealth(one, deps)) }
      },
    }),
  ]
}

const readsEverything = ({ organization_id, apps }: AccessScope): boolean =>
  organization_id === null && apps === null

/**
 * Returns a predicate that is true if the caller may read a finding. A finding about an app requires access to the app.
 * A finding about an organization requires access to all of its apps. Other findings require access to everything.
 */
function openReadableCheck(
  accessScope: AccessScope,
  readableApps: readonly App[],
): (finding: Finding) => boolean {
  return ({ details }) => {
    if (readsEverything(accessScope)) return true
    if (details?.app_id !== undefined) return readableApps.some(({ id }) => id === details.app_id)
    return (
      details?.organization_id !== undefined &&
      details.organization_id === accessScope.organization_id &&
      accessScope.apps === null
    )
  }
}

function findingRow(finding: Finding) {
  const { state, subject, details } = finding
  return {
    id: details?.id ?? subject,
    level: LEVELS[state],
    title: details?.title ?? subject,
    detail: textOfFinding(finding),
    cause: details?.cause ?? null,
    about: details?.about ?? null,
    action: details?.action ?? null,
    since: details?.since ?? null,
    app_id: details?.app_id ?? null,
    progress: details?.progress ?? null,
  }
}

function appHealth({ id, bundle_id, organization_id, ...app }: App, deps: Deps) {
  const { silenceDetector, history, accounts, appleClients, products } = deps
  const account = accounts.forOrganization(organization_id)
  const currentProducts = products.list(id).filter(({ gone_at }) => gone_at === null)
  const environments = history.progress().filter(({ app_id }) => app_id === id)
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
      gaps_open: environments
        .filter((one) => one.environment === environment)
        .flatMap(({ gaps }) => gaps.filter(({ filled_at }) => filled_at === null)).length,
    })),
    reports: reportCounts(organization_id, deps),
    history: environments.map(historySummary),
    keys: {
      connect: appleClients.keyStatus(account?.connect ?? null),
      purchases: appleClients.keyStatus(account?.purchases ?? null),
    },
    products: {
      count: currentProducts.length,
      without_period: currentProducts.filter(({ period }) => period === null).length,
    },
  }
}

/** The import progress of an organization. Apple’s reports cover all apps of an organization. */
function reportCounts(organization_id: string, { imports }: Deps) {
  const counts = imports.counts(organization_id)
  const countDays = (...states: string[]): number =>
    counts.filter(({ state }) => states.includes(state)).reduce((sum, one) => sum + one.days, 0)
  const readySales = counts.filter(
    ({ kind, state }) => kind === 'sales' && (state === 'done' || state === 'empty'),
  )
  return {
    newest_on:
      readySales
        .map(({ last_day }) => last_day)
        .sort()
        .at(-1) ?? null,
    done: countDays('done', 'empty', 'missing'),
    of: countDays('done', 'empty', 'missing', 'not_yet', 'failed'),
    failed: countDays('failed'),
  }
}

function historySummary({ environment, has_key, backfill, watermark }: HistoryProgress) {
  const unreadFraction =
    backfill === null ? null : (backfill.until_at - backfill.read_until_at) / HISTORY_DEPTH_MS
  return {
    environment,
    has_key,
    stage: backfill?.stage ?? null,
    progress:
      unreadFraction === null
        ? null
        : Math.round(Math.min(1, Math.max(0, 1 - unreadFraction)) * 1_000) / 1_000,
    problem: backfill?.problem ?? watermark?.problem ?? null,
    compared_until_at: watermark?.compared_until_at ?? null,
  }
}
