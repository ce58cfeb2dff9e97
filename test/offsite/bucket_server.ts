/** The bucket of a test, closed at its end, and the settings of a Windfall that uploads to it. */
import type { Clock } from '../../src/clock.ts'
import { closedAtEnd } from '../closing.ts'
import { BUCKET, type BucketService, KEY, openBucketService, REGION } from './bucket_service.ts'

/** Opens a bucket for a test. */
export const openBucketServer = async (clock?: Clock): Promise<BucketService> =>
  closedAtEnd(await openBucketService(clock))

/** The settings of a Windfall that uploads to the bucket, as variables. */
export const bucketEnv = ({ endpoint, port }: BucketService, recipient: string): Record<string, string> => ({
  WINDFALL_BACKUP_TO: `s3://${BUCKET}/windfall`,
  WINDFALL_BACKUP_RECIPIENTS: recipient,
  WINDFALL_BACKUP_ENDPOINT: endpoint,
  WINDFALL_BACKUP_REGION: REGION,
  WINDFALL_BACKUP_ACCESS_KEY_ID: KEY.id,
  WINDFALL_BACKUP_SECRET_ACCESS_KEY: KEY.secret,
  WINDFALL_OUTBOUND_ALLOW: `127.0.0.1/32:${port}`,
})
