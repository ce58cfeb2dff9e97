/** Scheduled backups: creates a backup in a folder and deletes expired ones. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Backups } from './backup.ts'
import { backupName, expiredBackups, type Keep } from './files.ts'

/** The section `[backup]` of the configuration. It is read for each backup, so that a reload takes effect. */
type Settings = Readonly<Keep & { folder: string; recipients: readonly string[] }>

/** Creates a backup, then deletes expired backups. Returns the result as text. */
export async function scheduledBackup(
  { backup }: Pick<Backups, 'backup'>,
  settings: Settings,
  clock: Clock,
): Promise<string> {
  const { folder, recipients, daily, weekly, monthly } = settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const isEncrypted = recipients.length > 0
  const file = join(folder, backupName(clock(), isEncrypted))
  const { bytes } = await backup(file, isEncrypted ? { recipients } : null)
  // If an earlier backup was made while the clock was ahead, the new backup may look expired.
  const expired = expiredBackups(readdirSync(folder), { daily, weekly, monthly }).filter(
    (name) => name !== basename(file),
  )
  for (const name of expired) rmSync(join(folder, name))
  return `${file}, ${bytes} bytes, verified; ${expired.length} expired ${expired.length === 1 ? 'backup' : 'backups'} deleted`
}
