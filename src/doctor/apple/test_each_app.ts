/** Requests a test notification for each app and follows it until it arrives. */
import type { Environment } from '../../apple/payloads.ts'
import { connectedApps } from '../../health/notification_findings.ts'
import { type DoctorContext, NO_DATABASE } from '../context.ts'
import { error, type Outcome, ok, skipped, warning } from '../result.ts'
import { accountsIn } from './all_accounts.ts'
import { testNotification } from './test_notification.ts'

const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']
const SET_UP =
  'Correct the notification URL in App Store Connect under App Information, App Store Server Notifications.'
const REPEAT = 'Afterwards run `windfall doctor --test` again.'
const LATER = 'Run `windfall doctor --test` again later.'

/** One outcome for each app with a key and each environment. */
export async function checkTestNotifications(context: DoctorContext): Promise<Outcome[]> {
  const { isTestRequested, reader, appleReach } = context
  if (!isTestRequested)
    return [skipped('Not requested.', 'Run `windfall doctor --test`, or choose it in the dashboard.')]
  if (reader === null) return [skipped(NO_DATABASE)]
  if (!(await appleReach()).server) return [skipped('Apple cannot be reached.')]
  const outcomes: Outcome[] = []
  for (const app of appsWithKey(context))
    for (const environment of ENVIRONMENTS) outcomes.push(await follow(context, app, environment))
  return outcomes.length > 0
    ? outcomes
    : [
        skipped(
          'No connected app has an In-App Purchase key.',
          'Add it in the dashboard under Settings, Apple, or with `windfall connect`.',
        ),
      ]
}

type AppWithKey = ReturnType<typeof appsWithKey>[number]

function appsWithKey(context: DoctorContext) {
  const accounts = accountsIn(context)
  const { reader } = context
  return (reader === null ? [] : connectedApps(reader)).flatMap(({ id, bundle_id, slug }) => {
    const key = accounts.find(({ organization }) => organization === slug)?.purchases
    return key ? [{ id, bundle_id, key }] : []
  })
}

async function follow(context: DoctorContext, app: AppWithKey, environment: Environment): Promise<Outcome> {
  const { state, words } = await testNotification(app, environment, context, context.reader)
  const detail = `${app.bundle_id}, ${environment}: ${words}`
  const details = { subject: `${app.id}:${environment}` }
  if (state === 'ok') return ok(detail, details)
  if (state === 'refused') return error(detail, REPEAT, details)
  if (state === 'unsent') return warning(detail, LATER, details)
  return state === 'warning' ? warning(detail, SET_UP, details) : error(detail, SET_UP, details)
}
