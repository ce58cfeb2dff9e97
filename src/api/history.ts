/** What may be asked: how far the history that Apple shows has been read, compared and filled in. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope } from '../access/scope.ts'
import type { Apps } from '../apps/apps.ts'
import { defineRoute, type Route } from '../http/route.ts'
import type { History } from '../ledger/history/history.ts'
import { READ_ROUTE } from './route_defaults.ts'

const at = v.nullable(v.number())
const count = (description: string) => v.pipe(v.number(), v.description(description))
const problem = v.pipe(v.nullable(v.string()), v.description('Why it does not go on; null while it does'))

const BackfillAnswer = v.object({
  stage: v.picklist(['notifications', 'transactions', 'statuses', 'done']),
  started_at: v.number(),
  finished_at: at,
  read_until_at: count('Notifications signed before this were read, out of those before until_at'),
  until_at: v.number(),
  notifications: count('How many Apple showed, known before or not'),
  lineages: count('Customers whose transactions were read'),
  transactions: v.number(),
  statuses: v.number(),
  refused: count('Texts that did not verify, or were of another app'),
  problem,
  problem_at: at,
})
const ComparisonAnswer = v.object({
  compared_until_at: count('Everything that Apple signed before this is here'),
  checked_at: at,
  problem,
  problem_at: at,
})
/** Notifications that Apple had sent and we had not received. */
export const GapAnswer = v.object({
  id: v.string(),
  first_signed_at: v.number(),
  last_signed_at: v.number(),
  notifications: count('How many were missing when it was found'),
  recovered: v.number(),
  found_at: v.number(),
  filled_at: at,
})
const HistoryAnswer = v.object({
  history: v.array(
    v.object({
      app_id: v.string(),
      bundle_id: v.string(),
      environment: v.picklist(['production', 'sandbox']),
      has_key: v.pipe(v.boolean(), v.description('Its organization has an In-App Purchase key')),
      backfill: v.nullable(BackfillAnswer),
      comparison: v.nullable(ComparisonAnswer),
      gaps: v.pipe(v.array(GapAnswer), v.description('The last ten, newest first')),
      lookups: count('Transactions that client apps named and that are still to be asked for'),
    }),
  ),
})
type Answer = v.InferOutput<typeof HistoryAnswer>

type Deps = { history: History; apps: Apps; auth: Auth }

export const historyRoutes = ({ history, apps, auth }: Deps): Route[] => [
  defineRoute({
    ...READ_ROUTE,
    path: '/api/v1/history',
    summary: 'How far what Apple shows of the past has been read, compared with what arrived, and filled in',
    access: auth.reader,
    answers: {
      200: { description: 'Each app that this token reads, in each environment', schema: HistoryAnswer },
    },
    handler({ caller }): Answer {
      const within = new Set(appsInScope(caller, apps).map(({ id }) => id))
      const progress = history.progress().filter(({ app_id }) => within.has(app_id))
      return {
        history: progress.map(({ backfill, watermark, gaps, ...rest }) => ({
          ...rest,
          backfill: backfill && v.parse(BackfillAnswer, backfill),
          comparison: watermark && v.parse(ComparisonAnswer, watermark),
          gaps: gaps.map((gap) => v.parse(GapAnswer, gap)),
        })),
      }
    },
  }),
]
