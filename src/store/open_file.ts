/** Opens the database file of an instance, also after an interrupted restore or an upgrade of Windfall. */
import type { Clock } from '../clock.ts'
import { sweepStaging } from './backup/swap.ts'
import { realPathOf } from './disk/paths.ts'
import { upgrade } from './schema/migrations.ts'
import { openStore, type Store } from './store.ts'
import type { Warn } from './warnings.ts'

/**
 * Removes files of an interrupted restore, upgrades the database if an earlier release wrote it, and opens it. Only the
 * process that holds the lock may call it.
 *
 * @throws Refusal like `upgrade` and `openStore`.
 */
export async function openFile(path: string, log: { info: Warn; warn: Warn }, clock: Clock): Promise<Store> {
  const file = realPathOf(path)
  sweepStaging(file)
  await upgrade(file, { note: log.info })
  return openStore(file, { warn: log.warn, clock })
}
