/** Fetches a backup from a bucket for a command, and opens its key before that. */
import { basename, dirname, join } from 'node:path'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import { beginningOf, download } from '../../offsite/downloads.ts'
import { withBucket } from '../../offsite/reading.ts'
import { findBackup } from '../../offsite/remote_backups.ts'
import type { DecryptionKey } from '../../store/backup/archive/age.ts'
import { BEGINNING_BYTES, kindOfBeginning } from '../../store/backup/archive/unpack.ts'
import { assertFreeSpace } from '../../store/backup/backup.ts'
import { realPathOf, statsAt } from '../../store/disk/paths.ts'
import { decryptionKeyFor } from '../instance/opening.ts'
import { printError } from '../instance/output.ts'
import { progressPrinter } from '../instance/progress.ts'
import { inTemporaryFolder } from '../instance/temporary_folder.ts'

/** A backup to open. `name` is its path or its URL. */
export type OpenableBackup = Readonly<{ file: string; name: string; key: DecryptionKey | null }>

type Wanted = Readonly<{
  config: Pick<Config, 'backup' | 'outbound'>
  url: string
  identity: string | undefined
  /** The file on whose file system there is room for the backup. It need not exist. */
  near: string
}>

const MEGABYTE = 1_048_576

/** Whether the argument of a command names a bucket, a prefix or an object in it. */
export const isBucketUrl = (text: string): boolean => /^s3:\/\//i.test(text)

/**
 * Runs `work` with the backup at `url`, or the newest one under it, in a temporary file near `near`.
 *
 * @throws Refusal from the bucket; like `decryptionKeyFor`; 507 `no_room`
 */
export function withFetchedBackup<Result>(
  { config, url, identity, near }: Wanted,
  work: (backup: OpenableBackup) => Promise<Result>,
): Promise<Result> {
  return withBucket({ config, url, clock: systemClock }, async (s3, place) => {
    const found = await findBackup(s3, place)
    const beginning = await beginningOf(s3, found.key, BEGINNING_BYTES)
    const key = await decryptionKeyFor(found.url, kindOfBeginning(beginning, found.url), identity)
    return inTemporaryFolder(existingFolder(dirname(realPathOf(near))), async (folder) => {
      const file = join(folder, basename(found.key))
      assertFreeSpace(file, found.bytes)
      const of = Math.ceil(found.bytes / MEGABYTE)
      printError(`Fetching ${found.url}, ${of} MB …`)
      const printer = progressPrinter()
      await download(s3, found, file, (received) =>
        printer.progress(
          { done: received, of: found.bytes },
          `Fetched ${Math.floor(received / MEGABYTE)} of ${of} MB`,
        ),
      ).finally(printer.end)
      return work({ file, name: found.url, key })
    })
  })
}

const existingFolder = (path: string): string =>
  statsAt(path)?.isDirectory() ? path : existingFolder(dirname(path))
