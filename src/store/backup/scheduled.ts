/** Scheduled backups: creates a backup in a folder, deletes expired ones, and copies or uploads it to another machine. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import type { Backup, Backups } from './backup.ts'
import type { openCopying } from './copy_away.ts'
import { backupName, expiredBackups, madeAtOf } from './files.ts'

type Copying = ReturnType<typeof openCopying>

/** Uploads a backup to a bucket. Returns what happened as text. */
type Upload = (backup: Backup, to: string, settings: Config['backup']) => Promise<string>

type Deps = Pick<Backups, 'backup'> & Pick<Copying, 'copyBackup'> & { upload: Upload }

/**
 * Creates a backup, deletes expired backups, and copies the new one to another machine if there is a bucket or a command
 * for that. The settings are read for each backup, so that a reload takes effect. Returns the result as text.
 *
 * @throws Error if the backup was not made, or not copied
 */
export async function scheduledBackup(
  { backup, copyBackup, upload }: Deps,
  settings: Config['backup'],
  clock: Clock,
): Promise<string> {
  const { folder, recipients, command, to, daily, weekly, monthly } = settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const isEncrypted = recipients.length > 0
  const file = newFile(folder, clock(), isEncrypted)
  const made = await backup(file, isEncrypted ? { recipients } : null)
  const keep = { daily, weekly, monthly }
  const expired = expiredBackups(readdirSync(folder), keep, madeAtOf(basename(file)) ?? clock())
  for (const name of expired) rmSync(join(folder, name))
  const outcome = `${file}, ${made.bytes} bytes, verified; ${expired.length} expired ${expired.length === 1 ? 'backup' : 'backups'} deleted`
  if (to !== null) return `${outcome}; ${await upload(made, to, settings)}`
  const [program] = command
  if (program === undefined) return outcome
  await copyBackup(command, file)
  return `${outcome}; copied by ${program}`
}

/** The file of a backup that is made at `now`. Two backups within a second, as by hand, have names a second apart. */
function newFile(folder: string, now: number, isEncrypted: boolean): string {
  const file = join(folder, backupName(now, isEncrypted))
  return existsSync(file) ? newFile(folder, now + 1_000, isEncrypted) : file
}
