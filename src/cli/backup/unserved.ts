/** Opens a database that no server has open, for commands that copy it. */
import { systemClock } from '../../clock.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { backupSources } from '../../config/sources/backup_sources.ts'
import { backupVerbs } from '../../control/backup_verbs.ts'
import { openBackups } from '../../store/backup/backup.ts'
import { openCopySource } from '../../store/backup/copy_source.ts'
import { lockForServing } from '../../store/disk/lock.ts'
import { version } from '../../version.ts'

/** Opens the database for a backup when no server runs. Does not upgrade the database first. */
export async function openForBackup(loaded: LoadedConfig) {
  const lock = lockForServing(loaded.config.store.path)
  try {
    const store = openCopySource(loaded.config.store.path)
    const backups = openBackups({
      store,
      clock: systemClock,
      windfall: version,
      sources: () => backupSources(loaded),
    })
    return {
      verbs: backupVerbs(backups),
      async close(): Promise<void> {
        await backups.close()
        await store.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}
