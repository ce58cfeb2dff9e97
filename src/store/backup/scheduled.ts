/** Scheduled backups: creates a backup in a folder, deletes expired ones, and copies it to another machine. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Backups } from './backup.ts'
import type { openCopying } from './copy_away.ts'
import { backupName, expiredBackups, type Keep } from './files.ts'

type Copying = ReturnType<typeof openCopying>

/** The section `[backup]` of the configuration. It is read for each backup, so that a reload takes effect. */
type Settings = Readonly<Keep & { folder: string; recipients: readonly string[]; command: readonly string[] }>

/**
 * Creates a backup, deletes expired backups, and copies the new one to another machine if there is a command for that.
 * Returns the result as text.
 *
 * @throws Error if the backup was not made, or not copied
 */
export async function scheduledBackup(
  { backup, copyBackup }: Pick<Backups, 'backup'> & Pick<Copying, 'copyBackup'>,
  settings: Settings,
  clock: Clock,
): Promise<string> {
  const { folder, recipients, command, daily, weekly, monthly } = settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const isEncrypted = recipients.length > 0
  const file = join(folder, backupName(clock(), isEncrypted))
  const { bytes } = await backup(file, isEncrypted ? { recipients } : null)
  // If an earlier backup was made while the clock was ahead, the new backup may look expired.
  const expired = expiredBackups(readdirSync(folder), { daily, weekly, monthly }).filter(
    (name) => name !== basename(file),
  )
  for (const name of expired) rmSync(join(folder, name))
  const outcome = `${file}, ${bytes} bytes, verified; ${expired.length} expired ${expired.length === 1 ? 'backup' : 'backups'} deleted`
  const [program] = command
  if (program === undefined) return outcome
  await copyBackup(command, file)
  return `${outcome}; copied by ${program}`
}
