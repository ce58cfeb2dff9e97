/** `/api/v1/imports`: which of Apple's daily reports are stored, which are missing and why, and import progress. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope, list, resolveApps, whole } from '../access/scope.ts'
import type { AccessScope } from '../access/tokens.ts'
import type { Accounts } from '../apps/accounts.ts'
import type { Apps } from '../apps/apps.ts'
import { invalid } from '../http/parse.ts'
import type { Route } from '../http/route.ts'
import { REPORT_KINDS } from '../ledger/reports/import_days.ts'
import type { ImportProgress } from '../ledger/reports/import_stats.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import { day } from '../metrics/series/series_request.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE, UNKNOWN_APP } from './route_defaults.ts'

/** The maximum number of missing days in an answer. The counts by state include all missing days. */
const MAX_LISTED_HOLES = 500

const nullableInstant = v.nullable(v.number())
const nullableText = v.nullable(v.string())
const kind = v.picklist(REPORT_KINDS)
const state = v.picklist(['done', 'empty', 'not_yet', 'missing', 'failed'])
const STATES =
  'done; empty: Apple reports no sales; not_yet: not available at Apple yet; missing: no longer available at Apple; failed: could not be fetched or read'

const ProgressAnswer = v.object({
  started_at: v.number(),
  done: v.pipe(v.number(), v.description('Report days processed in this run')),
  of: v.number(),
  per_second: v.nullable(v.number()),
  seconds_left: v.nullable(v.number()),
  reading: v.nullable(v.object({ vendor_number: v.string(), report: kind, day_on: v.string() })),
  waiting_until: v.pipe(
    nullableInstant,
    v.description('When Apple’s hourly rate limit allows the next request'),
  ),
})
const StateAnswer = v.object({
  report: kind,
  state: v.pipe(state, v.description(STATES)),
  days: v.number(),
  first_day: v.string(),
  last_day: v.string(),
})
export const ImportsAnswer = v.object({
  running: v.nullable(ProgressAnswer),
  organizations: v.array(
    v.object({
      organization_id: v.string(),
      states: v.array(StateAnswer),
      holes: v.pipe(
        v.array(
          v.object({
            vendor_number: v.string(),
            report: kind,
            day_on: v.string(),
            state,
            reason: nullableText,
            tries: v.number(),
            asked_at: v.number(),
            due_at: nullableInstant,
          }),
        ),
        v.description(
          `The newest ${MAX_LISTED_HOLES} days that are not stored, whose report is empty although there were sales, or whose report has rows that could not be read (state done)`,
        ),
      ),
      versions: v.array(v.object({ report: kind, version: v.string(), learned_at: v.number() })),
      unknown_apps: v.pipe(
        v.array(v.object({ sku: nullableText, apple_id: v.nullable(v.number()), name: nullableText })),
        v.description('Apps in reports that are not connected; only for tokens that read every app'),
      ),
    }),
  ),
})
/** The CSV has one row for each organization, report and state. */
const STATES_TABLE = {
  columns: ['organization_id', ...Object.keys(StateAnswer.entries)],
  rowsOf: ({ organizations }: v.InferOutput<typeof ImportsAnswer>) =>
    organizations.flatMap(({ organization_id, states }) =>
      states.map((row) => ({ organization_id, ...row })),
    ),
}
const DaysQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  report: v.optional(v.pipe(list, v.description('Reports, separated by commas'))),
  before: v.optional(day('Only days before this day')),
  limit: v.optional(
    v.pipe(
      whole(1, 100),
      v.description('Days for each page, 1 to 100; a page contains all reports and apps of its days'),
    ),
    '31',
  ),
})
const DaysAnswer = v.object({
  days: v.array(
    v.object({
      app_id: v.string(),
      report: kind,
      day_on: v.string(),
      state: v.pipe(
        v.picklist(['done', 'empty', 'not_yet', 'missing', 'failed', 'not_asked']),
        v.description(`${STATES}; not_asked: never requested`),
      ),
      reason: nullableText,
      rows: v.number(),
      asked_at: nullableInstant,
      due_at: nullableInstant,
    }),
  ),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('The value of `before` for the next page; null on the last page'),
  ),
})

type Deps = { imports: Imports; accounts: Accounts; apps: Apps; auth: Auth }

export function importRoutes({ imports, accounts, apps, auth }: Deps): Route[] {
  function importState(accessScope: AccessScope): v.InferOutput<typeof ImportsAnswer> {
    const organizationIds = readableOrganizations(accessScope)
    return {
      running: runningWithin(imports.progress(), organizationIds),
      organizations: organizationIds.map((id) => organizationState(imports, id, accessScope)),
    }
  }

  /** The organizations with keys or with apps. An organization without keys may have imported reports earlier. */
  function readableOrganizations(accessScope: AccessScope): string[] {
    const withKeys = accounts
      .list()
      .map(({ organization_id }) => organization_id)
      .filter((id) => accessScope.organization_id === null || id === accessScope.organization_id)
    return [...new Set([...withKeys, ...appsInScope(accessScope, apps).map((app) => app.organization_id)])]
  }

  function listDays(
    accessScope: AccessScope,
    query: v.InferOutput<typeof DaysQuery>,
  ): v.InferOutput<typeof DaysAnswer> {
    const appIds = query.app?.flatMap((name) => resolveApps(name, accessScope, apps))
    const chosen = appsInScope(accessScope, apps).filter(
      (app) => appIds === undefined || appIds.includes(app.id),
    )
    const reports = query.report?.map(resolveReport) ?? REPORT_KINDS
    const { days: result, next } = imports.appDays({
      apps: chosen,
      reports,
      before: query.before ?? null,
      days: query.limit,
    })
    return { days: result, next }
  }

  return [
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/imports',
      summary:
        'Shows which of Apple’s daily reports are stored, which are missing and why, and import progress',
      access: auth.reader,
      answer: { description: 'Each organization that the token can read', schema: ImportsAnswer },
      read: ({ caller }) => importState(caller),
      table: STATES_TABLE,
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/imports/days',
      summary: 'Lists the import state of each app, report and Pacific day, newest first',
      access: auth.reader,
      query: DaysQuery,
      answer: { description: 'A page of days with their reports and apps', schema: DaysAnswer },
      refusals: UNKNOWN_APP,
      read: ({ caller, query }) => listDays(caller, query),
    }),
  ]
}

/** The import state of one organization's reports. */
function organizationState(imports: Imports, organization_id: string, accessScope: AccessScope) {
  return {
    organization_id,
    states: imports.counts(organization_id).map(({ kind: report, ...rest }) => ({ report, ...rest })),
    holes: imports
      .missingDays(organization_id, MAX_LISTED_HOLES)
      .map(({ kind: report, organization_id: _, changed_at: __, ...rest }) => ({ report, ...rest })),
    versions: imports.versions(organization_id).map(({ kind: report, ...rest }) => ({ report, ...rest })),
    unknown_apps: (accessScope.apps === null ? imports.unconnectedApps(organization_id) : []).map(
      ({ sku, apple_id, name }) => ({ sku, apple_id, name }),
    ),
  }
}

/**
 * The progress of the current run. `reading` is null while the run reads a report that the caller cannot read.
 */
function runningWithin(progress: ImportProgress | null, organizationIds: readonly string[]) {
  if (progress === null) return null
  const { reading, tally: _, is_first: __, ...counts } = progress
  const visibleReading =
    reading && organizationIds.includes(reading.organization_id)
      ? { vendor_number: reading.vendor_number, report: reading.kind, day_on: reading.day }
      : null
  return { ...counts, reading: visibleReading }
}

function resolveReport(name: string) {
  const found = REPORT_KINDS.find((one) => one === name)
  if (found) return found
  const message = `unknown report ${name}; use one of: ${REPORT_KINDS.join(', ')}`
  throw invalid([{ path: 'report', message }])
}
