/** Opens the database file of an instance, in whatever state the last process left it. */
import type { Clock } from '../clock.ts'
import { sweepStaging } from './backup/swap.ts'
import { realPathOf } from './disk/paths.ts'
import { upgrade } from './schema/migrations.ts'
import { openStore, type Store } from './store.ts'
import type { Warn } from './warnings.ts'

/**
 * Removes what an interrupted restore unpacked, upgrades the file where an earlier release wrote it, and opens it. To be
 * called by the process that holds the lock.
 *
 * @throws Refusal as `upgrade` and `openStore`.
 */
export async function openFile(path: string, log: { info: Warn; warn: Warn }, clock: Clock): Promise<Store> {
  const file = realPathOf(path)
  sweepStaging(file)
  await upgrade(file, { note: log.info })
  return openStore(file, { warn: log.warn, clock })
}
