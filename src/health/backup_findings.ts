/** Reports when the last backup was verified, and how to create one. */
import type { Clock } from '../clock.ts'
import { openBackupLog } from '../store/backup/log.ts'
import type { Reader } from '../store/reader.ts'
import { ago, type Finding, notice, ok, warning } from './findings.ts'

const MAX_AGE_MS = 7 * 86_400_000
const BACKUP_NOW = { label: 'Make one now', command: 'windfall backup FILE' }

/** The finding for the last verified backup. If backups are scheduled, an age of more than a week is a warning. */
export function backupFinding(reader: Reader, clock: Clock, schedule: string): Finding {
  const last = openBackupLog(reader).last()
  const isRecent = last !== null && clock() - last.at <= MAX_AGE_MS
  const words =
    last === null
      ? 'no backup has been verified yet.'
      : `${last.file} was verified ${ago(last.at, clock())}, ${last.bytes} bytes.`
  if (schedule !== 'off') {
    if (isRecent) return ok('backup', words)
    const details = { id: 'backup', title: 'No recent backup', since: last?.at ?? null }
    return warning('backup', words, {
      ...details,
      remedy: 'To make one, run windfall jobs run backup.',
      action: { label: 'Make one now', command: 'windfall jobs run backup' },
    })
  }
  if (isRecent) return ok('backup', words)
  return notice('backup', words, {
    id: 'backup:schedule',
    remedy: 'To make one each night, set schedule = "30 3 * * *" in [backup].',
    title: 'No backups are scheduled',
    action: BACKUP_NOW,
  })
}
