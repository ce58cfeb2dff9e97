/** What we compute: the shapes in which it is told how everything stands. */
import * as v from 'valibot'

const at = v.nullable(v.number())
const words = v.nullable(v.string())
const environment = v.picklist(['production', 'sandbox'])
const level = v.picklist(['ok', 'notice', 'warning', 'error'])

export const StatusAnswer = v.object({
  level: v.pipe(level, v.description('That of the first row; ok where there is none')),
  checked_at: v.number(),
  rows: v.array(
    v.object({
      id: v.pipe(v.string(), v.description('The same as long as the matter lasts')),
      level,
      title: v.string(),
      detail: v.string(),
      action: v.nullable(
        v.object({
          label: v.string(),
          command: v.optional(v.pipe(v.string(), v.description('What to type'))),
          href: v.optional(v.pipe(v.string(), v.description('A page of the dashboard'))),
        }),
      ),
      since: at,
      app_id: words,
      progress: v.nullable(v.object({ done: v.number(), of: v.number() })),
    }),
  ),
})

const Key = v.object({
  state: v.pipe(
    v.picklist(['none', 'unknown', 'ok', 'refused']),
    v.description('What Apple said the last time; unknown: it was not asked since the start'),
  ),
  why: words,
  since: at,
})

export const HealthAnswer = v.object({
  apps: v.array(
    v.object({
      app_id: v.string(),
      bundle_id: v.string(),
      organization_id: v.string(),
      name: words,
      source: v.string(),
      connected_at: v.number(),
      notifications: v.array(
        v.object({
          environment,
          last_at: v.pipe(at, v.description('When Apple signed the newest that was pushed')),
          last_24_hours: v.number(),
          last_7_days: v.number(),
          gaps_open: v.number(),
        }),
      ),
      reports: v.pipe(
        v.object({ newest_on: words, done: v.number(), of: v.number(), failed: v.number() }),
        v.description('Days of reports of its organization: dealt with, asked for, and not to be read'),
      ),
      history: v.array(
        v.object({
          environment,
          has_key: v.boolean(),
          stage: v.nullable(v.picklist(['notifications', 'transactions', 'statuses', 'done'])),
          progress: v.pipe(
            v.nullable(v.number()),
            v.description('Of the notifications that Apple still shows, from 0 to 1'),
          ),
          problem: words,
          compared_until_at: at,
        }),
      ),
      keys: v.object({ connect: Key, purchases: Key }),
      products: v.object({ count: v.number(), without_period: v.number() }),
    }),
  ),
})
