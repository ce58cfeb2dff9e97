/** The command `windfall reconcile`: Apple's history of notifications compared with what arrived, now. */
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

/** `kept_since`: where Apple's history begins, if it was asked for earlier (ms). */
type Answer = { compared: ReconcileOutcome[]; without_key: string[]; kept_since: number | null }

export const reconcileCommand = defineCommand({
  meta: {
    name: 'reconcile',
    description: 'Ask Apple which notifications it sent, and fill in what did not arrive',
  },
  args: {
    since: {
      type: 'string',
      valueHint: 'DATE|TIME',
      description: 'From 2026-05-01 on, or for the last 90m, 36h, 7d, 2w; else from where the last one ended',
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
      printError('Nothing was asked: no app is connected (windfall connect).')
    if (kept_since !== null && compared.length > 0)
      printError(`Apple keeps 180 days: nothing before ${shownAt(kept_since)} could be asked for.`)
    for (const bundle_id of without_key) {
      printError(
        `${bundle_id} was not asked for: its organization has no In-App Purchase key (windfall connect).`,
      )
    }
    for (const { bundle_id, environment, problem } of compared) {
      if (problem === null) continue
      printError(`${bundle_id} (${environment}): ${problem}`)
      process.exitCode = 1
    }
  },
})

const HEAD = ['bundle id', 'environment', 'asked from', 'until', 'notifications', 'missing', 'outcome']

function rowOf(one: ReconcileOutcome) {
  const { bundle_id, environment, from, until, notifications, recovered } = one
  const request = one.state === 'done' || one.state === 'failed'
  const counts = request
    ? [shownAt(from ?? null), shownAt(until ?? null), notifications ?? 0, recovered ?? 0]
    : []
  return [bundle_id, environment, ...(request ? counts : [null, null, null, null]), outcomeOf(one)]
}

function outcomeOf({ state, recovered, refused, first_signed_at, last_signed_at }: ReconcileOutcome): string {
  if (state === 'waiting') return 'its first reading is not that far yet'
  if (state === 'not_there') return 'Apple knows no such app there'
  const text = []
  if (recovered)
    text.push(`recovered, signed ${shownAt(first_signed_at ?? null)} to ${shownAt(last_signed_at ?? null)}`)
  if (refused) text.push(`${refused} refused (windfall refused list)`)
  if (state === 'failed') text.push('not read to the end')
  if (state === 'stopped') text.push('stopped')
  return text.join('; ') || 'nothing was missing'
}
