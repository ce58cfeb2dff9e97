/** Reports when the last backup was verified, when it was copied to another machine, and how to create one. */
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import { isOfLastWeek, openBackupLog } from '../store/backup/log.ts'
import type { Reader } from '../store/reader.ts'
import { ago, type Finding, notice, ok, warning } from './findings.ts'

const BACKUP_NOW = { label: 'Make one now', command: 'windfall backup FILE' }

/** The finding for the last verified backup. If backups are scheduled, an age of more than a week is a warning. */
export function backupFinding(reader: Reader, clock: Clock, schedule: string): Finding {
  const last = openBackupLog(reader).last()
  const isRecent = last !== null && isOfLastWeek(last.at, clock())
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

/**
 * The finding for the last backup on another machine, if backups are scheduled and a bucket or a command is configured.
 * An age of more than a week is a warning.
 */
export function copyFinding(reader: Reader, clock: Clock, backup: Config['backup']): Finding | null {
  const { schedule, to, command } = backup
  if (schedule === 'off' || (to === null && command.length === 0)) return null
  const last = openBackupLog(reader).lastCopiedTo(to)
  if (last !== null && isOfLastWeek(last.at, clock())) return null
  const words = last
    ? `the last backup on another machine is ${last.file}, of ${ago(last.at, clock())}.`
    : `no backup has been ${to === null ? 'copied to another machine' : `uploaded to ${to}`} yet.`
  return warning('backup', words, {
    id: 'backup:copy',
    title: 'No recent backup elsewhere',
    since: last?.at ?? null,
    remedy: 'To make one, run windfall jobs run backup; its message says why it fails.',
    action: { label: 'Make one now', command: 'windfall jobs run backup' },
  })
}
