/** Scheduled backups: creates a backup in a folder, copies or uploads it to another machine, and deletes expired ones. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import { Refusal } from '../../errors.ts'
import type { Backups } from './backup.ts'
import type { openCopying } from './copy_away.ts'
import { backupName, expiredBackups, madeAtOf } from './files.ts'
import type { openBackupLog, VerifiedBackup } from './log.ts'

type Copying = ReturnType<typeof openCopying>
type Settings = Config['backup']

/** Uploads a backup to a bucket. Returns what happened as text. */
type Upload = (backup: Omit<VerifiedBackup, 'at'>, to: string, settings: Settings) => Promise<string>

type Deps = Pick<Backups, 'backup'> &
  Pick<Copying, 'copyBackup'> & {
    upload: Upload
    log: Pick<ReturnType<typeof openBackupLog>, 'last' | 'lastCopied'>
    clock: Clock
    /** Whether a backup that was made at an instant is to be copied, instead of making another. */
    isCurrent: (made_at: number) => boolean
  }

/**
 * Creates a backup, copies it to another machine if there is a bucket or a command for that, and deletes expired backups.
 * A backup that `isCurrent` and was not copied is copied instead. The settings are read for each backup, so that a reload
 * takes effect. Returns the result as text.
 *
 * @throws Error if the backup was not made, or not copied. Then expired backups stay, as long as there is room for more.
 */
export async function scheduledBackup(deps: Deps, settings: Settings): Promise<string> {
  const { clock, copyBackup, upload } = deps
  const { folder, command, to } = settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const before = uncopied(deps, settings)
  const made = before ?? (await make(deps, settings, join(folder, newName(settings, clock()))))
  const [program] = command
  let elsewhere = ''
  if (to !== null) elsewhere = `; ${await upload(made, to, settings)}`
  else if (program !== undefined) {
    await copyBackup(command, made.file)
    elsewhere = `; copied by ${program}`
  }
  const expired = deleteExpired(settings, madeAtOf(basename(made.file)) ?? clock())
  const verified = before === null ? 'verified' : 'verified earlier'
  return `${made.file}, ${made.bytes} bytes, ${verified}; ${expired} expired ${expired === 1 ? 'backup' : 'backups'} deleted${elsewhere}`
}

/**
 * The last backup, if it is to be copied to another machine and was not; otherwise null. If it was uploaded, what failed is
 * a deletion in the bucket, which is tried again with it.
 */
function uncopied({ log, isCurrent }: Deps, { folder, to, command }: Settings): VerifiedBackup | null {
  const last = log.last()
  const isCopied = to !== null || command.length > 0
  if (last === null || !isCopied || !isCurrent(last.at)) return null
  const name = basename(last.file)
  const isScheduled = last.file === join(folder, name) && name.endsWith('.age') && madeAtOf(name) !== null
  const isHere = statSync(last.file, { throwIfNoEntry: false })?.size === last.bytes
  return isScheduled && isHere && (to !== null || basename(log.lastCopied()?.file ?? '') !== name)
    ? last
    : null
}

/** Makes a backup. Expired ones are deleted before it only if the disk has no room for it. */
async function make({ backup, clock }: Deps, settings: Settings, file: string) {
  const { recipients } = settings
  const encryption = recipients.length > 0 ? { recipients } : null
  try {
    return await backup(file, encryption)
  } catch (error) {
    const isFull = error instanceof Refusal && error.code === 'no_room'
    if (!isFull || deleteExpired(settings, clock()) === 0) throw error
    return backup(file, encryption)
  }
}

/** Deletes the backups that have expired at `now`. Returns how many. */
function deleteExpired({ folder, daily, weekly, monthly }: Settings, now: number): number {
  const expired = expiredBackups(readdirSync(folder), { daily, weekly, monthly }, now)
  for (const name of expired) rmSync(join(folder, name))
  return expired.length
}

/** The name of a backup that is made at `now`. Two backups within a second, as by hand, have names a second apart. */
function newName(settings: Settings, now: number): string {
  const name = backupName(now, settings.recipients.length > 0)
  return existsSync(join(settings.folder, name)) ? newName(settings, now + 1_000) : name
}
