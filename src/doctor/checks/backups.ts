/** Checks of backups and restore drills. */
import { statSync } from 'node:fs'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import { Refusal } from '../../errors.ts'
import { ago } from '../../health/findings.ts'
import { withBucket } from '../../offsite/reading.ts'
import { listBackups, type RemoteBackup } from '../../offsite/remote_backups.ts'
import { openUploadLog } from '../../offsite/upload_log.ts'
import { openDrillLog } from '../../store/backup/drills.ts'
import { isOfLastWeek, openBackupLog } from '../../store/backup/log.ts'
import type { Reader } from '../../store/reader.ts'
import { type DoctorContext, NO_DATABASE } from '../context.ts'
import { error, type Outcome, ok, skipped, warning } from '../result.ts'

const DAY_MS = 86_400_000
const SCHEDULE =
  'Set `schedule = "30 3 * * *"` in `[backup]`, and `to`, so that each backup is also in a bucket.'
const BACK_UP =
  'Run `windfall jobs run backup`; its message says why it fails. Or run `windfall backup FILE`.'

/** The age of the last verified backup, and of the last on another machine. A bucket is asked for it. */
export async function checkBackup(context: DoctorContext): Promise<Outcome[]> {
  const { reader, config } = context
  if (reader === null) return [skipped(NO_DATABASE)]
  const made = madeOutcome(context, reader)
  const { to, command } = config.backup
  if (to !== null) return [made, await uploadedOutcome(context, reader, to)]
  return command.length === 0 ? [made] : [made, copiedOutcome(context, reader)]
}

const ELSEWHERE = { subject: 'copied', title: 'Backup elsewhere' }

function copiedOutcome({ clock }: DoctorContext, reader: Reader): Outcome {
  const last = openBackupLog(reader).lastCopiedTo(null)
  if (last === null) return warning('No backup was copied to another machine.', BACK_UP, ELSEWHERE)
  const detail = `${last.file} was copied to another machine ${ago(last.at, clock())}.`
  return isOfLastWeek(last.at, clock()) ? ok(detail, ELSEWHERE) : warning(detail, BACK_UP, ELSEWHERE)
}

async function uploadedOutcome(
  { config, clock }: DoctorContext,
  reader: Reader,
  to: string,
): Promise<Outcome> {
  const last = openBackupLog(reader).lastCopiedTo(to)
  const found = await backupsIn(config, to, clock)
  if (found instanceof Refusal) return error(`${to} cannot be read. ${found.message}`, AFTER_THAT, ELSEWHERE)
  const count = found.length === 1 ? '1 backup is' : `${found.length} backups are`
  if (last === null) {
    const others = found.length === 0 ? '.' : ` by this server. ${count} there.`
    return warning(`No backup was uploaded to ${to}${others}`, BACK_UP, ELSEWHERE)
  }
  const newest = found.find(({ url }) => url === last.file)
  if (newest === undefined)
    return error(`${last.file} was uploaded ${ago(last.at, clock())}, but is gone.`, GONE, ELSEWHERE)
  const size = `${newest.bytes.toLocaleString('en-US')} bytes`
  const verified = openUploadLog(reader).read().verified[newest.url]
  // A restored server does not know the sizes of what another one has uploaded.
  if (verified !== undefined && verified !== newest.bytes)
    return error(`${newest.url} now has ${size}, others than those that were verified.`, BACK_UP, ELSEWHERE)
  const detail = `${newest.url}, ${size}, was made ${ago(newest.made_at, clock())}; ${count} there.`
  return isOfLastWeek(newest.made_at, clock()) ? ok(detail, ELSEWHERE) : warning(detail, BACK_UP, ELSEWHERE)
}

const AFTER_THAT = 'Correct that, then run `windfall jobs run backup`.'
const GONE =
  'Find out what deletes objects there, such as a lifecycle rule of the bucket, then run `windfall jobs run backup`.'

/** The backups in the bucket, or why it cannot be read. */
const backupsIn = (config: Config, url: string, clock: Clock): Promise<RemoteBackup[] | Refusal> =>
  withBucket({ config, url, clock }, async (s3, place) => (await listBackups(s3, place)).backups).catch(
    (failure: unknown) => {
      if (failure instanceof Refusal) return failure
      throw failure
    },
  )

function madeOutcome({ clock, config: { backup } }: DoctorContext, reader: Reader): Outcome {
  const last = openBackupLog(reader).last()
  const isScheduled = backup.schedule !== 'off'
  const remedy = isScheduled ? BACK_UP : SCHEDULE
  if (last === null) return warning('No backup has ever been verified.', remedy)
  const detail = `${last.file}, ${last.bytes.toLocaleString('en-US')} bytes, was verified ${ago(last.at, clock())}.`
  if (!isOfLastWeek(last.at, clock())) return warning(detail, remedy)
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
