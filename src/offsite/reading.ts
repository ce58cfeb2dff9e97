/** Reads a bucket from a command or a check, with connections of its own. */
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import { Refusal } from '../errors.ts'
import { openDispatcher } from '../outgoing/dispatcher.ts'
import { type Place, placeAt } from './place.ts'
import { openS3, type S3 } from './s3.ts'
import { S3Error } from './s3_errors.ts'

type Reading = Readonly<{
  config: Pick<Config, 'backup' | 'outbound'>
  /** The URL of the bucket, of a prefix or of an object. */
  url: string
  clock: Clock
  /** Ends the reading. */
  signal?: AbortSignal
}>

/** Runs `work` on the bucket at `url`. @throws Refusal 502 `bucket_failed` if the bucket refuses; like `placeAt` */
export async function withBucket<Result>(
  { config, url, clock, signal = new AbortController().signal }: Reading,
  work: (s3: S3, place: Place) => Promise<Result>,
): Promise<Result> {
  const place = placeAt(url, config.backup)
  const dispatcher = openDispatcher(config.outbound)
  try {
    return await work(openS3({ dispatcher, clock, signal }, place), place)
  } catch (error) {
    if (error instanceof S3Error) throw new Refusal(502, 'bucket_failed', error.message)
    throw error
  } finally {
    await dispatcher.close()
  }
}
