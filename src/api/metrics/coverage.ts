/** `/api/v1/metrics/coverage`: how much of Apple's reports the ledger explains, and the causes of the difference. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { appsInScope, list, resolveApps } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { App, Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { decimalText } from '../../http/csv.ts'
import type { Route } from '../../http/route.ts'
import { dayText } from '../../metrics/lineage/calendar.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Reported } from '../../metrics/reports/reported.ts'
import type { ReadSnapshot } from '../../metrics/series/snapshot_reads.ts'
import { defineList } from '../lists.ts'
import { READ_ROUTE, UNKNOWN_APP } from '../route_defaults.ts'
import { behind } from './answers.ts'

const METRICS = ['mrr', 'active_subscriptions', 'active_trials', 'revenue', 'refunds', 'new_trials'] as const
const CUTOVERS = ['mrr', 'trials', 'flows'] as const

const month = v.pipe(v.string(), v.regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month, YYYY-MM'))
const CoverageQuery = v.object({
  app: v.optional(v.pipe(list, v.description('Bundle ids or app ids, separated by commas'))),
  from: v.optional(v.pipe(month, v.description('The first month, YYYY-MM'))),
  to: v.optional(v.pipe(month, v.description('The last month, YYYY-MM'))),
})

const describedNumber = (description: string) => v.pipe(v.number(), v.description(description))
const DifferenceCauses = v.object({
  before_first_notification: describedNumber(
    'From a time or from subscriptions of which Windfall had received no notification',
  ),
  upgrade_proration: describedNumber(
    'Prorated refunds at upgrades: Apple reports them, the ledger estimates them',
  ),
  refund_timing: describedNumber(
    'Refunds that the two sources count on different days, or that only one source counts',
  ),
  day_boundary: describedNumber('Amounts that the other source counts in an adjacent month'),
  exchange_rate: describedNumber('The same amounts, converted at the rate of another day'),
  family_sharing: describedNumber('Always 0: neither source counts family sharing'),
  unknown: describedNumber('Other causes'),
})
export const CoverageAnswer = v.object({
  behind,
  coverage: v.array(
    v.object({
      app_id: v.string(),
      month: v.string(),
      metric: v.picklist(METRICS),
      unit: v.pipe(v.picklist(['money', 'count']), v.description('money is in thousandths of the currency')),
      currency: v.pipe(v.nullable(v.string()), v.description('The currency of money; null for counts')),
      day_on: v.pipe(
        v.string(),
        v.description('The last Pacific day of the month with a report; levels are as of its end'),
      ),
      reports: v.number(),
      ledger: v.number(),
      share: v.pipe(
        v.nullable(v.number()),
        v.description('ledger ÷ reports, six decimal places; null if the reports contain nothing'),
      ),
      residue: v.pipe(DifferenceCauses, v.description('reports − ledger, by cause')),
    }),
  ),
  cutovers: v.pipe(
    v.array(
      v.object({ app_id: v.string(), metric: v.picklist(CUTOVERS), day_on: v.string(), at: v.number() }),
    ),
    v.description(
      'The Pacific midnight from which only the ledger is shown. Before it, levels (mrr, trials) are from the reports; after the last report, they are that report plus changes in the ledger since',
    ),
  ),
})

const COLUMNS = [
  'app_id',
  'month',
  'metric',
  'unit',
  'currency',
  'day_on',
  'reports',
  'ledger',
  'share',
  'before_first_notification',
  'upgrade_proration',
  'refund_timing',
  'day_boundary',
  'exchange_rate',
  'family_sharing',
  'unknown',
] as const

type Deps = {
  reported: Pick<Reported, 'coverage' | 'cutoverOf'>
  metrics: Pick<Metrics, 'withSnapshot'>
  organizations: Pick<Organizations, 'list'>
  apps: Apps
  auth: Auth
}

type Query = v.InferOutput<typeof CoverageQuery>
type Answer = v.InferOutput<typeof CoverageAnswer>
type CoverageSource = { apps: readonly App[]; shown: ReadSnapshot }
type Months = { from: string | undefined; to: string | undefined }

/** Appends the months and cutovers of one organization’s apps to the answer. */
async function addMonths(
  reported: Deps['reported'],
  answer: Answer,
  { apps: organizationApps, shown }: CoverageSource,
  { from, to }: Months,
) {
  answer.behind ??= shown.behind
  for (const app of organizationApps) {
    const months = await reported.coverage(app, shown.generation)
    const { currency } = shown.generation
    const within = months.filter((row) => row.month >= (from ?? '') && row.month <= (to ?? '9'))
    answer.coverage.push(
      ...within.map((row) => ({ ...row, currency: row.unit === 'money' ? currency : null })),
    )
    for (const metric of CUTOVERS) {
      const cutover = reported.cutoverOf(app.id, metric)
      if (cutover) answer.cutovers.push({ app_id: app.id, metric, ...cutoverRow(cutover) })
    }
  }
}

export function coverageRoutes({ reported, metrics, organizations, apps, auth }: Deps): Route[] {
  async function coverage(accessScope: AccessScope, { app, from, to }: Query, wait_ms: number | null) {
    const appIds = app?.flatMap((name) => resolveApps(name, accessScope, apps))
    const chosen = appsInScope(accessScope, apps).filter(({ id }) => appIds?.includes(id) ?? true)
    const answer: Answer = { behind: null, coverage: [], cutovers: [] }
    for (const organization of organizations.list()) {
      const organizationApps = chosen.filter(({ organization_id }) => organization_id === organization.id)
      if (organizationApps.length === 0) continue
      const read = (scope: CoverageSource): Promise<void> => addMonths(reported, answer, scope, { from, to })
      await metrics.withSnapshot({ organization, apps: organizationApps }, read, wait_ms)
    }
    return answer
  }

  return defineList(auth, {
    ...READ_ROUTE,
    tag: 'Metrics',
    path: '/api/v1/coverage',
    summary:
      'Compares the ledger with Apple’s reports by app, month and metric, with the causes of each difference',
    access: auth.reader,
    query: CoverageQuery,
    answer: { description: 'Every month with reports, oldest first', schema: CoverageAnswer },
    refusals: UNKNOWN_APP,
    read: ({ caller, query }, wait_ms) => coverage(caller, query, wait_ms),
    table: { columns: COLUMNS, rowsOf },
  })
}

const cutoverRow = ({ day, at }: { day: number; at: number }) => ({ day_on: dayText(day), at })

const rowsOf = ({ coverage }: Answer): Line[] =>
  coverage.map(({ residue, ...row }) => withDecimalMoney({ ...row, ...residue }))

type Line = Readonly<Record<string, string | number | null>>

/** Converts money to decimal numbers; `share` stays a ratio. */
function withDecimalMoney(row: Line): Line {
  if (row.unit !== 'money') return row
  const entries = Object.entries(row).map(([name, value]) =>
    typeof value === 'number' && name !== 'share' ? [name, decimalText(value)] : [name, value],
  )
  return Object.fromEntries(entries)
}
