/** The command `windfall import`: fetches Apple's daily reports now and shows the progress. */
import { defineCommand } from 'citty'
import type { Organization } from '../../apps/organizations.ts'
import { Refusal } from '../../errors.ts'
import {
  describeStop,
  type ImportProgress,
  type ImportRun,
  outcomeText,
  type StoppedImport,
} from '../../ledger/reports/import_stats.ts'
import { configArg, instantText, organizationArg, withInstance } from '../instance/instance.ts'
import { print, printError } from '../instance/output.ts'
import { follow } from '../instance/progress.ts'

type Answer = { joined: boolean; run: ImportRun; organizations: Organization[] }

export const importCommand = defineCommand({
  meta: { name: 'import', description: 'Fetch missing daily reports from Apple, oldest first' },
  args: {
    days: {
      type: 'string',
      valueHint: 'N',
      description: 'Only the last N days (default: the year that Apple keeps)',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const request = {
      organization: args.organization ?? null,
      days: args.days === undefined ? null : parseDays(args.days),
    }
    const { joined, run, organizations } = await withInstance(args.config, (send) =>
      follow<Answer, ImportProgress>(send, {
        verb: 'imports.run',
        args: request,
        status: 'imports.status',
        progressText,
      }),
    )
    if (joined) printError('An import was already running; this is its result.')
    const result = run.skipped.length > 0 && run.first_day === null ? null : outcomeText(run)
    if (result !== null) print(`${result}.`)
    const hasSeveralOrganizations = organizations.length > 1
    const nameOf = ({ organization_id }: StoppedImport): string =>
      hasSeveralOrganizations
        ? `${organizations.find(({ id }) => id === organization_id)?.slug ?? organization_id}: `
        : ''
    for (const skipped of run.skipped)
      printError(`${nameOf(skipped)}Not imported: ${skipped.reason} (windfall connect).`)
    for (const stopped of run.stopped) printError(`${nameOf(stopped)}${describeStop(stopped)}`)
    if (run.failed > 0)
      printError('Windfall retries failed days automatically. /api/v1/imports lists the reasons.')
    if (run.failed > 0 || run.stopped.length > 0 || run.skipped.length > 0) process.exitCode = 1
  },
})

function parseDays(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= 400) return days
  throw new Refusal(400, 'invalid_request', `--days must be a number from 1 to 400, not ${text}`)
}

/** The progress of an import run, as one line of text. */
export function progressText(progress: ImportProgress): string {
  const { done, of, per_second, seconds_left, reading, waiting_until, tally } = progress
  const phrases = [`${done} of ${of} daily ${of === 1 ? 'report' : 'reports'}`]
  if (tally.failed > 0) phrases.push(`${tally.failed} failed`)
  if (per_second !== null) phrases.push(`${per_second.toFixed(1)} a second`)
  if (seconds_left !== null && done < of) phrases.push(`${durationOf(seconds_left)} left`)
  if (waiting_until !== null)
    phrases.push(`waiting for Apple’s hourly budget until ${instantText(waiting_until)}`)
  else if (reading !== null) phrases.push(`${reading.kind.replace('_', ' ')} of ${reading.day}`)
  return phrases.join(', ')
}

/** A duration in words, from seconds. */
function durationOf(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}
