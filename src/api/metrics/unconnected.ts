/** `/api/v1/unconnected-revenue`: the money of apps in Apple’s reports that are not connected. Owner only. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { invalid } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Reported } from '../../metrics/reports/reported.ts'
import { day } from '../../metrics/series/series_request.ts'
import type { Rates } from '../../rates/rates.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { converted, DisplayParam, openDisplay } from './display.ts'

const Query = v.object({
  from: v.optional(day('The first Pacific day; default: that of the first report')),
  to: v.optional(day('The last Pacific day, not before `from`; default: that of the newest report')),
  ...DisplayParam,
})

const nullableText = v.nullable(v.string())
export const UnconnectedAnswer = v.object({
  apps: v.pipe(
    v.array(
      v.object({
        organization_id: v.string(),
        name: nullableText,
        sku: nullableText,
        apple_id: v.nullable(v.number()),
        currency: v.pipe(v.nullable(v.string()), v.description('The currency of the amounts')),
        gross_milli: v.pipe(
          v.number(),
          v.description('Charges less refunds, in thousandths, at the rate of each report’s day'),
        ),
        proceeds_milli: v.pipe(v.number(), v.description('The same after tax and Apple’s commission')),
        not_converted: v.pipe(
          v.record(v.string(), v.number()),
          v.description('Charges less refunds without a known rate, in thousandths, by currency'),
        ),
        converted,
      }),
    ),
    v.description('The apps with money in these days, the most first. No metric contains their money'),
  ),
})
type Answer = v.InferOutput<typeof UnconnectedAnswer>

const COLUMNS = ['organization_id', 'name', 'sku', 'apple_id', 'gross_milli', 'proceeds_milli', 'currency']

type Deps = {
  reported: Pick<Reported, 'unconnected'>
  metrics: Pick<Metrics, 'generations'>
  organizations: Pick<Organizations, 'list'>
  auth: Auth
  rates: Rates
  clock: Clock
}

export function unconnectedRoutes({ reported, metrics, organizations, auth, ...deps }: Deps): Route[] {
  const display = openDisplay(deps)

  return defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/unconnected-revenue',
    summary: 'Sums what Apple’s reports have of apps that are not connected; no metric contains it',
    access: auth.owner,
    query: Query,
    answer: { description: 'Every such app with money', schema: UnconnectedAnswer },
    async read({ query: { from: from_on = FIRST_DAY, to: until_on = LAST_DAY, display_currency } }) {
      if (from_on > until_on) throw invalid([{ path: 'from', message: 'must not be after `to`' }])
      const answer: Answer = { apps: [] }
      for (const { id: organization_id } of organizations.list()) {
        const { currency } = metrics.generations.shown(organization_id)
        for (const app of await reported.unconnected(organization_id, currency, { from_on, until_on }))
          answer.apps.push(display.fields({ organization_id, currency, ...app }, display_currency))
      }
      return answer
    },
    table: { columns: COLUMNS, rowsOf: ({ apps }) => apps },
  })
}

const FIRST_DAY = '0000-01-01'
const LAST_DAY = '9999-12-31'
