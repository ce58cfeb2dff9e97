/** `/api/v1/history`: progress of the backfill, the comparison with Apple's history, and gaps. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import { appsInScope } from '../access/scope.ts'
import type { Apps } from '../apps/apps.ts'
import type { Route } from '../http/route.ts'
import type { History } from '../ledger/history/history.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE } from './route_defaults.ts'

const nullableInstant = v.nullable(v.number())
const describedNumber = (description: string) => v.pipe(v.number(), v.description(description))
const problem = v.pipe(v.nullable(v.string()), v.description('Why it is stopped; null while it runs'))

const BackfillAnswer = v.object({
  stage: v.picklist(['notifications', 'transactions', 'statuses', 'done']),
  started_at: v.number(),
  finished_at: nullableInstant,
  read_until_at: describedNumber(
    'Notifications signed before this instant have been read; the backfill ends at until_at',
  ),
  until_at: v.number(),
  notifications: describedNumber('How many notifications Apple returned, including known ones'),
  lineages: describedNumber('How many customers’ transactions were read'),
  transactions: v.number(),
  statuses: v.number(),
  refused: describedNumber('How many payloads did not verify or belong to another app'),
  problem,
  problem_at: nullableInstant,
})
const ComparisonAnswer = v.object({
  compared_until_at: describedNumber('Every notification that Apple signed before this instant is stored'),
  checked_at: nullableInstant,
  problem,
  problem_at: nullableInstant,
})
/** A gap: consecutive notifications that Apple sent and Windfall had not received. */
export const GapAnswer = v.object({
  id: v.string(),
  first_signed_at: v.number(),
  last_signed_at: v.number(),
  notifications: describedNumber('How many notifications were missing when the gap was found'),
  recovered: v.number(),
  found_at: v.number(),
  filled_at: nullableInstant,
})
const HistoryAnswer = v.object({
  history: v.array(
    v.object({
      app_id: v.string(),
      bundle_id: v.string(),
      environment: v.picklist(['production', 'sandbox']),
      has_key: v.pipe(v.boolean(), v.description('Whether the organization has an In-App Purchase key')),
      backfill: v.nullable(BackfillAnswer),
      comparison: v.nullable(ComparisonAnswer),
      gaps: v.pipe(v.array(GapAnswer), v.description('The ten newest gaps, newest first')),
      lookups: describedNumber(
        'How many transactions named by client apps are still to be fetched from Apple',
      ),
    }),
  ),
})
type Answer = v.InferOutput<typeof HistoryAnswer>

type Deps = { history: History; apps: Apps; auth: Auth }

export const historyRoutes = ({ history, apps, auth }: Deps): Route[] =>
  defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/history',
    summary: 'Shows the progress of the backfill, the comparison with Apple’s history, and gaps',
    access: auth.reader,
    answer: { description: 'Each app that the token can read, by environment', schema: HistoryAnswer },
    read({ caller }): Answer {
      const readableAppIds = new Set(appsInScope(caller, apps).map(({ id }) => id))
      const progress = history.progress().filter(({ app_id }) => readableAppIds.has(app_id))
      return {
        history: progress.map(({ backfill, watermark, gaps, ...fields }) => ({
          ...fields,
          backfill: backfill && v.parse(BackfillAnswer, backfill),
          comparison: watermark && v.parse(ComparisonAnswer, watermark),
          gaps: gaps.map((gap) => v.parse(GapAnswer, gap)),
        })),
      }
    },
  })
