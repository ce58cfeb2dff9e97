/** Checks of recurring work: jobs, exchange rates, backups and restore drills. */
import { statSync } from 'node:fs'
import { ago } from '../../health/findings.ts'
import { examineJobs } from '../../health/job_findings.ts'
import { examineRates } from '../../health/rate_findings.ts'
import { openDrillLog } from '../../store/backup/drills.ts'
import { openBackupLog } from '../../store/backup/log.ts'
import type { Reader } from '../../store/reader.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { type DoctorContext, NO_DATABASE, NO_SERVER } from '../context.ts'
import { error, type Outcome, ok, outcomeOf, skipped, warning } from '../result.ts'

const DAY_MS = 86_400_000

/** Parts of the server that an error has stopped. */
export function checkStopped({ serving }: DoctorContext): Outcome[] {
  if (serving === null)
    return [skipped(`${NO_SERVER} Nothing is sent or counted.`, `Start it: \`${startOfServer()}\`.`)]
  const outcomes = serving.stopped().map((finding) => {
    const { id = '', title = finding.subject } = finding.details ?? {}
    const outcome = outcomeOf(finding, { subject: id.replace(/^stopped:/, '') })
    return { ...outcome, detail: `${title}: ${outcome.detail}` }
  })
  return outcomes.length > 0
    ? outcomes
    : [ok('None has stopped alerts, webhooks or the counting of figures.')]
}

/** The last run of each job. */
export function checkJobs({ reader, serving, clock }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  return [...examineJobs(reader, clock, { isServed: serving !== null, isEachWaiting: true })].map(
    (finding) => {
      if (finding.subject === 'jobs')
        return { ...outcomeOf(finding), remedy: serving === null ? START : WAIT }
      const title = finding.subject === 'reports' ? 'Reports' : `Job ${finding.subject}`
      const outcome = outcomeOf(finding, { subject: finding.subject, title })
      return finding.text.startsWith(WITHOUT_KEY) ? { ...outcome, status: 'skipped', remedy: null } : outcome
    },
  )
}

/** The outcome of a job that needs a key or an app. The checks of the keys and the apps say what to do. */
const WITHOUT_KEY = 'not asked'

const START = `Start Windfall: \`${startOfServer()}\`.`
const WAIT = 'Wait: the first jobs run within seconds of the start of the server.'

/** The age of the exchange rates. */
export const checkRates = ({ reader, clock, config }: DoctorContext): Outcome[] =>
  reader === null
    ? [skipped(NO_DATABASE)]
    : [...examineRates(reader, clock, { fetchesRates: config.rates.fetch })].map((finding) =>
        outcomeOf(finding),
      )

const MAX_BACKUP_AGE_MS = 7 * DAY_MS
const SCHEDULE = 'Set `schedule = "30 3 * * *"` in `[backup]`, and copy the folder to another machine.'
const BACK_UP =
  'Run `windfall jobs run backup`; its message says why it fails. Or run `windfall backup FILE`.'

/** The age of the last verified backup, and of the last that was copied to another machine. */
export function checkBackup(context: DoctorContext): Outcome[] {
  const { reader, config } = context
  if (reader === null) return [skipped(NO_DATABASE)]
  const made = madeOutcome(context, reader)
  return config.backup.command.length === 0 ? [made] : [made, copiedOutcome(context, reader)]
}

function copiedOutcome({ clock }: DoctorContext, reader: Reader): Outcome {
  const details = { subject: 'copied', title: 'Backup elsewhere' }
  const last = openBackupLog(reader).lastCopied()
  if (last === null) return warning('No backup was copied to another machine.', BACK_UP, details)
  const detail = `${last.file} was copied to another machine ${ago(last.at, clock())}.`
  return clock() - last.at > MAX_BACKUP_AGE_MS ? warning(detail, BACK_UP, details) : ok(detail, details)
}

function madeOutcome({ clock, config: { backup } }: DoctorContext, reader: Reader): Outcome {
  const last = openBackupLog(reader).last()
  const isScheduled = backup.schedule !== 'off'
  const remedy = isScheduled ? BACK_UP : SCHEDULE
  if (last === null) return warning('No backup has ever been verified.', remedy)
  const detail = `${last.file}, ${last.bytes.toLocaleString('en-US')} bytes, was verified ${ago(last.at, clock())}.`
  if (clock() - last.at > MAX_BACKUP_AGE_MS) return warning(detail, remedy)
  const file = statSync(last.file, { throwIfNoEntry: false })
  if (file !== undefined && file.size !== last.bytes)
    return error(`${detail} The file now has ${file.size.toLocaleString('en-US')} bytes.`, BACK_UP)
  return isScheduled ? ok(detail) : ok(detail, { remedy: SCHEDULE })
}

const MAX_DRILL_AGE_MS = 365 * DAY_MS
const DRILL = 'Restore a backup into another folder on this machine: `windfall restore FILE --into DIR`.'

/** The age of the last restore of a backup into another folder. */
export function checkDrill({ reader, clock }: DoctorContext): Outcome {
  if (reader === null) return skipped(NO_DATABASE)
  const last = openDrillLog(reader).last()
  if (last === null)
    return warning(
      'No backup was restored into another folder on this machine. A drill on another machine is not known here.',
      DRILL,
    )
  const detail = `${last.file} was restored into another folder ${ago(last.at, clock())}.`
  return clock() - last.at > MAX_DRILL_AGE_MS ? warning(detail, DRILL) : ok(detail)
}
