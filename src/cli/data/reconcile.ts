/** The command `windfall reconcile`: compares Apple's notification history with the received notifications, now. */
import { defineCommand } from 'citty'
import type { ReconcileOutcome } from '../../ledger/history/job_outcomes.ts'
import { commandName } from '../../program/form.ts'
import { columns, configArg, instantText, organizationArg, sendVerb } from '../instance/instance.ts'
import { print, printError } from '../instance/output.ts'

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
    if (compared.length > 0) print(columns([HEADER, ...compared.map(rowOf)]))
    else process.exitCode = 1
    if (compared.length === 0 && without_key.length === 0)
      printError('Nothing to reconcile: no app is connected (windfall connect).')
    if (kept_since !== null && compared.length > 0)
      printError(
        `Apple keeps 180 days of history; notifications before ${instantText(kept_since)} are not available.`,
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

const HEADER = ['bundle id', 'environment', 'from', 'until', 'notifications', 'missing', 'outcome']

function rowOf(result: ReconcileOutcome) {
  const { bundle_id, environment, from, until, notifications, recovered } = result
  const hasCounts = result.state === 'done' || result.state === 'failed'
  const counts = hasCounts
    ? [instantText(from ?? null), instantText(until ?? null), notifications ?? 0, recovered ?? 0]
    : [null, null, null, null]
  return [bundle_id, environment, ...counts, outcomeOf(result)]
}

function outcomeOf({ state, recovered, refused, first_signed_at, last_signed_at }: ReconcileOutcome): string {
  if (state === 'waiting') return 'the backfill has not reached this time yet'
  if (state === 'not_there') return 'Apple does not know this app'
  const notes = []
  if (recovered)
    notes.push(
      `recovered, signed ${instantText(first_signed_at ?? null)} to ${instantText(last_signed_at ?? null)}`,
    )
  if (refused) notes.push(`${refused} refused (${commandName} refused list)`)
  if (state === 'failed') notes.push('incomplete')
  if (state === 'stopped') notes.push('stopped')
  return notes.join('; ') || 'nothing missing'
}
