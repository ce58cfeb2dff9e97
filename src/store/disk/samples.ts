/** Samples the size of the database and the free space of its disk once a day, for a forecast. */
import { dirname } from 'node:path'
import type { Clock } from '../../clock.ts'
import { addDays, dayOfUtc } from '../../days.ts'
import type { Store } from '../store.ts'
import { freeBytesOf } from './disk_space.ts'

const RETENTION_DAYS = 400

/** The size of the database and the free space of its disk, in bytes, at `sampled_at` (ms since the epoch). */
type DiskSample = { sampled_at: number; database_bytes: number; free_bytes: number }

/** Takes the sample of this UTC day, unless there is one, and deletes old ones. Call it inside a unit of work. */
export function takeDiskSample(store: Pick<Store, 'prepare' | 'file' | 'bytes'>, clock: Clock): void {
  const sampled_at = clock()
  const sampled_on = dayOfUtc(sampled_at)
  const sample = { sampled_at, database_bytes: store.bytes(), free_bytes: freeBytesOf(dirname(store.file)) }
  store
    .prepare<DiskSample & { sampled_on: string }>(`
      insert or ignore into disk_samples (sampled_on, sampled_at, database_bytes, free_bytes)
      values (:sampled_on, :sampled_at, :database_bytes, :free_bytes)`)
    .run({ sampled_on, ...sample })
  store
    .prepare<[string]>('delete from disk_samples where sampled_on < ?')
    .run(addDays(sampled_on, -RETENTION_DAYS))
}

/** The samples since an instant, oldest first. */
export const diskSamplesSince = (reader: Pick<Store, 'prepare'>, since: number): DiskSample[] =>
  reader
    .prepare<[number], DiskSample>(`
      select sampled_at, database_bytes, free_bytes from disk_samples where sampled_at >= ? order by sampled_at`)
    .all(since)
