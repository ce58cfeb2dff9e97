/** `/api/v1/system`: the last result of the checks, and running them. Owner only. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import type { Doctor } from '../../doctor/doctor.ts'
import { detailOf } from '../../doctor/result.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const CheckAnswer = v.object({
  id: v.pipe(v.string(), v.description('Unique within a result; stays the same between results')),
  title: v.string(),
  status: v.pipe(
    v.picklist(['ok', 'warning', 'error', 'skipped']),
    v.description('skipped: the check could not run; `detail` says why'),
  ),
  detail: v.string(),
  remedy: v.pipe(v.nullable(v.string()), v.description('What to do; never null for a warning or an error')),
})

export const SystemAnswer = v.object({
  result: v.pipe(
    v.nullable(
      v.object({
        version: v.pipe(v.string(), v.description('The version of Windfall that ran the checks')),
        started_at: v.number(),
        finished_at: v.number(),
        test_notifications: v.boolean(),
        checks: v.array(CheckAnswer),
      }),
    ),
    v.description('The last result, also from before a restart; null if the checks never ran'),
  ),
  running: v.pipe(
    v.nullable(
      v.object({
        started_at: v.number(),
        test_notifications: v.boolean(),
        done: v.number(),
        of: v.pipe(v.number(), v.description('0 until the first check begins')),
        title: v.pipe(v.string(), v.description('The check in progress')),
      }),
    ),
    v.description('null if the checks do not run now'),
  ),
})

/** The CSV has one row for each check of the last result. */
const CHECKS_TABLE = {
  columns: Object.keys(CheckAnswer.entries),
  rowsOf: ({ result }: v.InferOutput<typeof SystemAnswer>) => result?.checks ?? [],
}

const RunBody = v.strictObject({
  test_notifications: v.optional(
    v.pipe(v.boolean(), v.description('Also request a test notification for each app and follow it')),
    false,
  ),
})

type Deps = { doctor: Pick<Doctor, 'last' | 'running' | 'request'>; auth: Auth }

export function systemRoutes({ doctor, auth }: Deps): Route[] {
  function system(): v.InferOutput<typeof SystemAnswer> {
    const last = doctor.last()
    const running = doctor.running()
    return {
      result: last && {
        version: last.version,
        started_at: last.started_at,
        finished_at: last.finished_at,
        test_notifications: last.with_test,
        checks: last.results.map(({ quote, ...check }) => ({
          ...check,
          detail: detailOf({ ...check, quote }),
        })),
      },
      running: running && {
        started_at: running.started_at,
        test_notifications: running.with_test,
        done: running.done,
        of: running.of,
        title: running.title,
      },
    }
  }

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/system',
      summary:
        'Returns the last result of the checks of `windfall doctor`, and the progress of running checks',
      access: auth.owner,
      answer: { description: 'The last result and the progress', schema: SystemAnswer },
      read: system,
      table: CHECKS_TABLE,
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/system/checks',
      summary: 'Runs the checks of `windfall doctor`, at most once a minute',
      description: 'Returns at once. Poll `GET /api/v1/system` until `running` is null.',
      access: auth.owner,
      body: RunBody,
      answers: { 202: { description: 'The checks run', schema: SystemAnswer } },
      refusals: { 409: 'checks_running', 429: 'rate_limited' },
      handler({ event, body }): v.InferOutput<typeof SystemAnswer> {
        // Checks send requests, and the body may have taken long to arrive: check access again.
        auth.owner.admit(event)
        doctor.request(body.test_notifications)
        event.res.status = 202
        return system()
      },
    }),
  ]
}
