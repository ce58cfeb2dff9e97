/** `/api/v1/first-steps`: what a new server still lacks, until it is complete or dismissed. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Accounts } from '../../apps/accounts.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { openBackupLog } from '../../store/backup/log.ts'
import { openSetting } from '../../store/setting.ts'
import type { Store } from '../../store/store.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const STEPS = ['app', 'keys', 'url', 'notification', 'phone', 'backend', 'backup'] as const
type Step = (typeof STEPS)[number]

/** The newest recovered notifications in which one that was pending is looked for. */
const MAX_RECOVERED = 1_000

export const FirstStepsAnswer = v.object({
  steps: v.array(
    v.object({
      name: v.pipe(
        v.picklist(STEPS),
        v.description(
          'app: an app is connected; keys: both Apple keys are known; url: Apple has reached this server; notification: one that is not a test arrived; phone: a channel of alerts exists; backend: a webhook exists, or a call with a secret key; backup: one was verified',
        ),
      ),
      done: v.boolean(),
    }),
  ),
  dismissed: v.boolean(),
  has_time_zone: v.pipe(
    v.boolean(),
    v.description('Whether each organization has a time zone that config.toml sets or the owner chose'),
  ),
})

type Deps = {
  store: Store
  accounts: Accounts
  apps: Pick<Apps, 'list'>
  organizations: Pick<Organizations, 'list'>
  jobs: Pick<Jobs, 'list' | 'runNow'>
  audit: Audit
  auth: Auth
}

/** The value of the dismissal. */
export const DISMISSED = 'yes'
/** Opens the mark that the owner, or the demo, needs no first steps. */
export const openDismissal = (store: Pick<Store, 'prepare'>) => openSetting(store, 'first_steps_dismissed')

export function firstStepRoutes(deps: Deps): Route[] {
  const { store, organizations, jobs, audit, auth } = deps
  const isDone = openChecks(deps)
  const dismissal = openDismissal(store)

  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'GET',
      path: '/api/v1/first-steps',
      summary: 'Says which steps of the first set-up are done',
      access: auth.owner,
      answers: { 200: { description: 'Every step', schema: FirstStepsAnswer } },
      handler: (): v.InferOutput<typeof FirstStepsAnswer> => ({
        steps: STEPS.map((name) => ({ name, done: isDone[name]() })),
        dismissed: dismissal.get() !== null,
        has_time_zone: organizations.list().every(({ time_zone_source }) => time_zone_source !== 'none'),
      }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/first-steps',
      summary: 'Hides the steps of the first set-up',
      access: auth.owner,
      answers: { 204: { description: 'The dashboard no longer shows them' } },
      handler: ({ event }) =>
        auth.commitAs(event, auth.owner, (actor) => {
          dismissal.set(DISMISSED)
          audit.note({ ...actor, action: 'first_steps.dismissed' })
        }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/backups',
      summary: 'Starts a backup into the folder of [backup]',
      description: 'Returns at once. `GET /api/v1/jobs` shows the progress and the outcome of `backup`.',
      access: auth.owner,
      answers: { 202: { description: 'The backup runs', schema: v.object({ job: v.string() }) } },
      refusals: { 409: 'job_running' },
      handler({ event }) {
        if (jobs.list().some(({ job, running }) => job === 'backup' && running))
          throw new Refusal(409, 'job_running', 'a backup is already running')
        audit.noteInBackground({ ...auth.auditActorOf(event), action: 'backup.started' })
        jobs.runNow('backup').catch(() => undefined)
        event.res.status = 202
        return { job: 'backup' }
      },
    }),
  ]
}

/** A check for each step. Each reads a few rows. */
function openChecks({ store, accounts, apps }: Deps): Record<Step, () => boolean> {
  const exists = (sql: string) => {
    const statement = store.prepare<[], object>(sql)
    return () => statement.get() !== undefined
  }
  const backups = openBackupLog(store)
  const hasArrived = openArrivalChecks(store, apps)
  const hasEndpoint = exists('select 1 from endpoints limit 1')
  const hasSecretCall = exists("select 1 from call_counts where credential = 'secret' limit 1")
  return {
    app: () => apps.list().length > 0,
    keys: () => accounts.list().some(({ connect, purchases }) => connect !== null && purchases !== null),
    url: () => hasArrived('any'),
    notification: () => hasArrived('no test'),
    phone: exists('select 1 from alert_channels limit 1'),
    backend: () => hasEndpoint() || hasSecretCall(),
    backup: () => backups.last() !== null,
  }
}

/** Whether Apple has sent a notification to this server, also to one of its apps that was not connected then. */
function openArrivalChecks(store: Store, apps: Deps['apps']) {
  type Kinds = { app_id: string; environment: string; except: string }
  const live = store.prepare<Kinds, object>(`
    select 1 from notifications where app_id = :app_id and environment = :environment and origin = 'live'
    and type <> :except limit 1`)
  const wasPending = store.prepare<Kinds, object>(`
    select 1 from (
      select payload_id, type from notifications
      where app_id = :app_id and environment = :environment and origin = 'recovered'
      order by signed_at desc limit ${MAX_RECOVERED}
    ) join signed_payloads on signed_payloads.id = payload_id where source = 'pending' and type <> :except limit 1`)
  const pending = store.prepare<[string], object>(
    'select 1 from pending_notifications where type <> ? limit 1',
  )

  return (kinds: 'any' | 'no test'): boolean => {
    const except = kinds === 'any' ? '' : 'TEST'
    if (pending.get(except)) return true
    return apps.list().some(({ id: app_id }) =>
      (['production', 'sandbox'] as const).some((environment) => {
        const wanted = { app_id, environment, except }
        return live.get(wanted) !== undefined || wasPending.get(wanted) !== undefined
      }),
    )
  }
}
