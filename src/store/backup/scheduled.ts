/** The backup that the clock makes: into a folder, from which old ones go. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Backups } from './backup.ts'
import { backupName, expiredBackups, type Keep } from './files.ts'

/** `[backup]` of the configuration; read each time, so that a reload reaches it. */
type Settings = Readonly<Keep & { folder: string; recipients: readonly string[] }>

/** Makes a backup, then deletes those that are no longer to be kept. Returns what it did, in words. */
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
  // Beside one of a day ahead, made while the clock was wrong, the new one may look old.
  const expired = expiredBackups(readdirSync(folder), { daily, weekly, monthly }).filter(
    (name) => name !== basename(file),
  )
  for (const name of expired) rmSync(join(folder, name))
  return `${file}, ${bytes} bytes, verified; ${expired.length} old ${expired.length === 1 ? 'one' : 'ones'} deleted`
}
