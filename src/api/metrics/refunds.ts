/** `/api/v1/refunds`: the refunds of a range of days. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import { whole } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { jsonSchema } from '../../http/documented.ts'
import { invalid } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import { type DayNumber, dayText } from '../../metrics/lineage/calendar.ts'
import type { RefundRow } from '../../metrics/refunds/refund_rows.ts'
import type { RefundLists } from '../../metrics/refunds/refunds.ts'
import { rangeErrors, rangeOf } from '../../metrics/series/range.ts'
import type { SeriesScope } from '../../metrics/series/series.ts'
import { day, ScopeParams } from '../../metrics/series/series_request.ts'
import type { Rates } from '../../rates/rates.ts'
import { defineList } from '../lists.ts'
import { QUERY_LIMIT_ERRORS, READ_ROUTE } from '../route_defaults.ts'
import { DisplayParam, openDisplay } from './display.ts'
import { openMetricScopes } from './metric_scope.ts'
import { RefundsAnswer, TotalsAnswer } from './refund_answers.ts'

const SORTS = { date: 'at', amount: 'base_milli', proceeds: 'proceeds_milli', mrr: 'mrr_milli' } as const
type Sort = keyof typeof SORTS
/** The sort, the value that is sorted by, the instant and the transaction of the last refund of a page. */
const CURSOR = /^(date|amount|proceeds|mrr)\.(-?\d{1,16})\.(\d{1,16})\.(\d{1,32})$/

/** The refunds that are listed or summed. */
const RangeParams = {
  ...ScopeParams.entries,
  currency: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, such as EUR'),
      v.description('Only refunds of purchases billed in this currency'),
    ),
  ),
  from: v.optional(
    day(
      'The first day, not in the future and at most five years before the last; by default 90 days with it',
    ),
  ),
  to: v.optional(day('The last day, not before `from`. A day after today is today')),
  ...DisplayParam,
}

const RefundsQuery = v.object({
  ...RangeParams,
  sort: v.optional(
    v.pipe(
      v.picklist(['date', 'amount', 'proceeds', 'mrr']),
      v.description(
        'date: the newest first. amount, proceeds: the greatest first. mrr: the greatest loss first',
      ),
    ),
    'date',
  ),
  cursor: v.optional(
    v.pipe(v.string(), jsonSchema({ pattern: CURSOR.source }), v.description('`next` of the previous page')),
  ),
  limit: v.optional(v.pipe(whole(1, 200), v.description('Page size, 1 to 200')), '50'),
})
type Query = v.InferOutput<typeof RefundsQuery>

const TotalsQuery = v.object({
  ...RangeParams,
  by: v.optional(
    v.pipe(v.picklist(['reason', 'product']), v.description('What refunds are summed by')),
    'reason',
  ),
})
type TotalsQuery = v.InferOutput<typeof TotalsQuery>
type RangeQuery = Omit<TotalsQuery, 'by'>

type Deps = {
  refundLists: RefundLists
  customers: Pick<Customers, 'figuresOf' | 'displayNameOf'>
  series: { todayOf: (scope: SeriesScope) => DayNumber }
  organizations: Organizations
  apps: Apps
  auth: Auth
  rates: Rates
  clock: Clock
}

/** Opens reading the refunds of a range: a page of them, or their totals. */
function openRefunds({ refundLists, series, ...deps }: Deps) {
  const { scopeOf } = openMetricScopes(deps)

  /** The refunds of a range, in no order. With `mayBeRecent`, they can be up to a minute old. */
  async function rowsIn(caller: AccessScope, query: RangeQuery, mayBeRecent = false) {
    const scope = scopeOf({ accessScope: caller, metrics: null }, query)
    const range = { from: query.from, to: query.to, interval: 'day' as const }
    const today = series.todayOf(scope)
    const errors = rangeErrors(range, today)
    if (errors.length > 0) throw invalid(errors)
    const days = rangeOf(range, today)
    const listed = await refundLists.rowsOf(scope, days, mayBeRecent)
    const all = listed.filter(isBilledIn(query.currency))
    const { by, totals: sum, ...knowledge } = refundLists.totalsIn(scope, days, all)
    return {
      environment: scope.environment,
      all,
      by,
      sum,
      about: {
        from: dayText(days.from),
        to: dayText(days.until),
        currency: scope.organization.currency as string | null,
        ...knowledge,
      },
    }
  }

  async function page(caller: AccessScope, query: Query) {
    const after = query.cursor === undefined ? null : parseCursor(query.cursor, query.sort)
    const { environment, about, by, sum, ...rows } = await rowsIn(caller, query, after !== null)
    const all = rows.all.sort(orderBy(query.sort))
    const following =
      after === null ? all : all.filter((row) => compare(positionOf(row, query.sort), after) > 0)
    const shown = following.slice(0, query.limit)
    const last = shown.at(-1)
    return {
      refunds: withUsers(refundLists.withCustomers(shown, environment), deps),
      next: following.length > shown.length && last ? cursorOf(last, query.sort) : null,
      ...about,
      totals: sum,
      by_reason: by('reason'),
      by_product: by('product_id'),
    }
  }

  async function sums(caller: AccessScope, { by: named, ...query }: TotalsQuery) {
    const { by, about } = await rowsIn(caller, query)
    return { totals: by(named === 'reason' ? 'reason' : 'product_id'), ...about }
  }

  return { page, sums }
}

/** Adds the names of apps, the users of the customers, and the name of the first who has one. */
function withUsers(
  rows: ReturnType<RefundLists['withCustomers']>,
  { customers, apps }: Pick<Deps, 'customers' | 'apps'>,
) {
  const ids = rows.flatMap(({ customer_id }) => customer_id ?? [])
  const found = customers.figuresOf([...new Set(ids)])
  return rows.map(({ milli, currency, ...row }) => {
    const users = found.get(row.customer_id ?? '')?.users ?? []
    const app_user_ids = users.map(({ app_user_id }) => app_user_id)
    const app = apps.get(row.app_id)
    return {
      ...row,
      amount_milli: milli,
      billed_in: currency,
      app_name: app?.name ?? app?.bundle_id ?? '',
      ...customers.displayNameOf(row.app_id, users),
      app_user_ids,
    }
  })
}

export function refundRoutes(deps: Deps): Route[] {
  const { auth } = deps
  const display = openDisplay(deps)
  const { page, sums } = openRefunds(deps)
  const common = {
    ...READ_ROUTE,
    access: auth.reader,
    refusals: { ...QUERY_LIMIT_ERRORS, 400: 'organization_needed' },
    around: auth.limited,
  } as const
  const list = defineList(auth, {
    ...common,
    path: '/api/v1/refunds',
    summary: 'Lists refunds with reason and effect on MRR, with totals by reason and product',
    query: RefundsQuery,
    answer: { description: 'A page of refunds', schema: RefundsAnswer },
    read: async ({ caller, query }) => display.fields(await page(caller, query), query.display_currency),
  })
  const totalsList = defineList(auth, {
    ...common,
    path: '/api/v1/refunds/totals',
    summary: 'Sums refunds by reason or by product',
    query: TotalsQuery,
    answer: { description: 'The totals, the largest first', schema: TotalsAnswer },
    table: {
      columns: [...Object.keys(TotalsAnswer.entries.totals.item.entries), 'currency', 'complete'],
      rowsOf: ({ totals: all, currency, complete }: v.InferOutput<typeof TotalsAnswer>) =>
        all.map((one) => ({ ...one, currency, complete })),
    },
    read: async ({ caller, query }) => display.fields(await sums(caller, query), query.display_currency),
  })
  return [...list, ...totalsList]
}

const isBilledIn = (wanted: string | undefined) => (row: RefundRow) =>
  wanted === undefined || row.currency === wanted

/** A place in the order: the value that is sorted by, the instant and the transaction. */
type Position = readonly [value: number, at: number, transaction_id: string]

/** Losses of MRR are negative. Unknown amounts are last. */
function positionOf(row: RefundRow, sort: Sort): Position {
  const value = row[SORTS[sort]]
  const shown = value === null ? Number.MIN_SAFE_INTEGER : sort === 'mrr' ? 0 - value : value
  return [shown, row.at, row.transaction_id]
}

/** The greatest value first, then the newest. */
const compare = (a: Position, b: Position): number =>
  b[0] - a[0] || b[1] - a[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : 0)

const orderBy = (sort: Sort) => (a: RefundRow, b: RefundRow) =>
  compare(positionOf(a, sort), positionOf(b, sort))

const cursorOf = (row: RefundRow, sort: Sort): string => [sort, ...positionOf(row, sort)].join('.')

/** @throws Refusal 400 `invalid_request` for a cursor that no page of this order returned. */
function parseCursor(cursor: string, sort: Sort): Position {
  const [, cursorSort, value, at, transaction_id = ''] = CURSOR.exec(cursor) ?? []
  if (cursorSort === sort) return [Number(value), Number(at), transaction_id]
  throw invalid([{ path: 'cursor', message: `must be the \`next\` of a page sorted by ${sort}` }])
}
