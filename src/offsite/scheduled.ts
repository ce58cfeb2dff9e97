/** Opens the scheduled backups with their copies on another machine. */
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Backups } from '../store/backup/backup.ts'
import { openCopying } from '../store/backup/copy_away.ts'
import { openBackupLog } from '../store/backup/log.ts'
import { scheduledBackup } from '../store/backup/scheduled.ts'
import type { Store } from '../store/store.ts'
import { openUploads } from './uploads.ts'

type Deps = {
  store: Store
  clock: Clock
  outgoing: Outgoing
  backups: Pick<Backups, 'backup'>
  /** The configuration. It is read for each backup, because a reload can change it. */
  current: { readonly config: Pick<Config, 'backup'> }
}

/** Opens scheduled backups. `close` ends a copy or an upload in progress. */
export function openScheduledBackups({ store, clock, outgoing, backups, current }: Deps) {
  const copying = openCopying(store, clock)
  const uploads = openUploads({ store, clock, outgoing })
  const { copyBackup } = copying
  const { upload } = uploads
  const work = { backup: backups.backup, copyBackup, upload, log: openBackupLog(store), clock }
  return {
    /** Makes a backup, or copies the last one if it `isCurrent`. @throws Error if it was not made, or not copied */
    backup: (isCurrent: (made_at: number) => boolean) =>
      scheduledBackup({ ...work, isCurrent }, current.config.backup),
    close: async (): Promise<void> => void (await Promise.all([copying.close(), uploads.close()])),
  }
}
