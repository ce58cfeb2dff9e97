/** Opens the scheduled backups with their copies on another machine. */
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Backups } from '../store/backup/backup.ts'
import { openCopying } from '../store/backup/copy_away.ts'
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
  const work = { backup: backups.backup, copyBackup: copying.copyBackup, upload: uploads.upload }
  return {
    /** Makes a backup and returns the outcome as text. @throws Error if it was not made, or not copied */
    backup: () => scheduledBackup(work, current.config.backup, clock),
    close: async (): Promise<void> => void (await Promise.all([copying.close(), uploads.close()])),
  }
}
