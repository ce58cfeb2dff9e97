/** Response schemas of `/api/v1/status` and `/api/v1/apps/health`. */
import * as v from 'valibot'

const nullableInstant = v.nullable(v.number())
const nullableText = v.nullable(v.string())
const environment = v.picklist(['production', 'sandbox'])
const level = v.picklist(['ok', 'notice', 'warning', 'error'])

const Verdict = v.object({
  level: v.pipe(
    v.picklist(['ok', 'warning', 'error']),
    v.description('The worst of the findings and of the last results of the checks of `windfall doctor`'),
  ),
  errors: v.number(),
  warnings: v.number(),
  reasons: v.pipe(
    v.array(
      v.object({
        level: v.picklist(['warning', 'error']),
        title: v.string(),
        detail: v.string(),
        remedy: v.pipe(v.nullable(v.string()), v.description('What to do; null if there is no more to say')),
        check: v.pipe(
          nullableText,
          v.description('The id of the result in `GET /api/v1/system`; null for a finding'),
        ),
      }),
    ),
    v.description('Every error and every warning, the errors first'),
  ),
  checked_at: v.pipe(nullableInstant, v.description('When the checks ran last; null if they never ran')),
})

export const StatusAnswer = v.object({
  level: v.pipe(level, v.description('The level of the first row; ok if there are no rows')),
  checked_at: v.number(),
  verdict: v.pipe(
    v.nullable(Verdict),
    v.description(
      'Whether anything is broken; null before the first notification or report, while nothing is wrong and the checks have not run, and for callers that cannot read everything',
    ),
  ),
  rows: v.array(
    v.object({
      id: v.pipe(v.string(), v.description('Stable for as long as the finding exists')),
      level,
      title: v.string(),
      detail: v.string(),
      cause: v.pipe(
        nullableText,
        v.description('The cause in the words of the log, if `detail` leaves it out'),
      ),
      about: v.pipe(
        nullableText,
        v.description('The name of what the finding is about, as it was declared, such as that of a webhook'),
      ),
      action: v.nullable(
        v.object({
          label: v.string(),
          command: v.optional(v.pipe(v.string(), v.description('A command to run'))),
          href: v.optional(v.pipe(v.string(), v.description('A dashboard page'))),
        }),
      ),
      since: nullableInstant,
      app_id: nullableText,
      progress: v.nullable(v.object({ done: v.number(), of: v.number() })),
    }),
  ),
})

const Key = v.object({
  state: v.pipe(
    v.picklist(['none', 'unknown', 'ok', 'refused']),
    v.description('Apple’s last response to this key; unknown: not used since the server started'),
  ),
  why: nullableText,
  since: nullableInstant,
})

export const HealthAnswer = v.object({
  apps: v.array(
    v.object({
      app_id: v.string(),
      bundle_id: v.string(),
      organization_id: v.string(),
      name: nullableText,
      source: v.string(),
      connected_at: v.number(),
      notifications: v.array(
        v.object({
          environment,
          last_at: v.pipe(
            nullableInstant,
            v.description('When Apple signed the newest notification that it pushed'),
          ),
          last_24_hours: v.number(),
          last_7_days: v.number(),
          gaps_open: v.number(),
        }),
      ),
      reports: v.pipe(
        v.object({ newest_on: nullableText, done: v.number(), of: v.number(), failed: v.number() }),
        v.description('Report days of the organization: processed, requested, and failed'),
      ),
      history: v.array(
        v.object({
          environment,
          has_key: v.boolean(),
          stage: v.nullable(v.picklist(['notifications', 'transactions', 'statuses', 'done'])),
          progress: v.pipe(
            v.nullable(v.number()),
            v.description('Share of the available notifications that has been read, from 0 to 1'),
          ),
          problem: nullableText,
          compared_until_at: nullableInstant,
        }),
      ),
      keys: v.object({ connect: Key, purchases: Key }),
      products: v.object({ count: v.number(), without_period: v.number() }),
    }),
  ),
})
