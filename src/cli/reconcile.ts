/** The command `windfall reconcile`: compares Apple's notification history with the received notifications, now. */
import { defineCommand } from 'citty'
import type { ReconcileOutcome } from '../ledger/history/job_outcomes.ts'
import {
  columns,
  configArg,
  organizationArg,
  print,
  printError,
  sendVerb,
  shownAt,
} from './instance/instance.ts'

/** `kept_since`: the start of Apple's history (ms), if the request began before it. */
type Answer = { compared: ReconcileOutcome[]; without_key: string[]; kept_since: number | null }

export const reconcileCommand = defineCommand({
  meta: {
    name: 'reconcile',
    description: 'Compare with Apple’s notification history and recover missing notifications',
  },
  args: {
    since: {
      type: 'string',
      valueHint: 'DATE|TIME',
      description:
        'Start: a date such as 2026-05-01, or a duration such as 90m, 36h, 7d or 2w (default: the end of the last run)',
    },
    app: { type: 'string', valueHint: 'BUNDLE', description: 'Only this app' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { compared, without_key, kept_since } = await sendVerb<Answer>(args.config, 'reconcile', {
      since: args.since ?? null,
      app: args.app ?? null,
      organization: args.organization ?? null,
    })
    if (compared.length > 0) print(columns([HEAD, ...compared.map(rowOf)]))
    else process.exitCode = 1
    if (compared.length === 0 && without_key.length === 0)
      printError('Nothing to reconcile: no app is connected (windfall connect).')
    if (kept_since !== null && compared.length > 0)
      printError(
        `Apple keeps 180 days of history; notifications before ${shownAt(kept_since)} are not available.`,
      )
    for (const bundle_id of without_key) {
      printError(`${bundle_id} was skipped: its organization has no In-App Purchase key (windfall connect).`)
    }
    for (const { bundle_id, environment, problem } of compared) {
      if (problem === null) continue
      printError(`${bundle_id} (${environment}): ${problem}`)
      process.exitCode = 1
    }
  },
})

const HEAD = ['bundle id', 'environment', 'from', 'until', 'notifications', 'missing', 'outcome']

function rowOf(one: ReconcileOutcome) {
  const { bundle_id, environment, from, until, notifications, recovered } = one
  const request = one.state === 'done' || one.state === 'failed'
  const counts = request
    ? [shownAt(from ?? null), shownAt(until ?? null), notifications ?? 0, recovered ?? 0]
    : []
  return [bundle_id, environment, ...(request ? counts : [null, null, null, null]), outcomeOf(one)]
}

function outcomeOf({ state, recovered, refused, first_signed_at, last_signed_at }: ReconcileOutcome): string {
  if (state === 'waiting') return 'the backfill has not reached this time yet'
  if (state === 'not_there') return 'Apple does not know this app'
  const text = []
  if (recovered)
    text.push(`recovered, signed ${shownAt(first_signed_at ?? null)} to ${shownAt(last_signed_at ?? null)}`)
  if (refused) text.push(`${refused} refused (windfall refused list)`)
  if (state === 'failed') text.push('incomplete')
  if (state === 'stopped') text.push('stopped')
  return text.join('; ') || 'nothing missing'
}
