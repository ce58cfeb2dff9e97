/**
 * Removes erased data from the write-ahead log, which still has the pages as they were before an erasure. A program that
 * reads the database, such as Litestream, can prevent that for a while.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import type { openErasureRecords } from './erasure_records.ts'

type Deps = {
  store: Pick<Store, 'commit' | 'log'>
  clock: Clock
  log: Log
  records: Pick<ReturnType<typeof openErasureRecords>, 'scrubbed' | 'finish'>
}

export function openLogErasure({ store, clock, log, records }: Deps) {
  /** The salts of the log when the rows of an erasure were scrubbed, by the id of the erasure. */
  const saltsById = new Map<string, string>()
  let compactedSalts: string | null = null

  /** Records that the rows of an erasure are scrubbed: the log's frames so far may contain the user. */
  const noteScrubbed = (erasure_id: string): void => void saltsById.set(erasure_id, store.log.salts())

  /** Records that the file was rewritten: the log's frames so far may contain erased data. */
  function noteCompacted(): void {
    compactedSalts = store.log.salts()
  }

  /** Whether the log may contain data of a scrubbed erasure, or of pages before the file was rewritten. */
  const isPending = (): boolean => compactedSalts !== null || records.scrubbed().length > 0

  /**
   * Tries to remove erased data from the log, and finishes the scrubbed erasures whose data is gone. The log is emptied.
   * If a reader prevents that, older frames are cut off once the log has restarted, because a restart means that all of
   * them are in the database file.
   */
  async function clean(): Promise<void> {
    const scrubbed = records.scrubbed()
    if (store.log.empty()) {
      compactedSalts = null
      return finish(scrubbed)
    }
    const salts = store.log.salts()
    // Of erasures before this start, the log may have any frames.
    for (const id of scrubbed) if (!saltsById.has(id)) noteScrubbed(id)
    const gone = scrubbed.filter((id) => saltsById.get(id) !== salts)
    const isCompactionGone = compactedSalts !== null && compactedSalts !== salts
    if (gone.length === 0 && !isCompactionGone) return
    await store.commit(store.log.trim)
    if (isCompactionGone) compactedSalts = null
    await finish(gone)
  }

  async function finish(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await store.commit(() => {
      for (const id of ids) records.finish(id, clock())
    })
    for (const id of ids) {
      saltsById.delete(id)
      log.info('a user was erased', { erasure: id })
    }
  }

  /** Logs that erased data stays in the log for now. */
  const warnPending = (): void =>
    log.warn(
      'another program reads the database, so the write-ahead log still has erased data; Windfall retries until it is gone',
    )

  return { warnPending, noteScrubbed, noteCompacted, isPending, clean }
}
