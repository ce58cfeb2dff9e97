/** A process that serves a bucket, for programs that run elsewhere. It prints its endpoint and serves until it is killed. */
import { openBucketService } from './bucket_service.ts'

const { endpoint } = await openBucketService()
process.stdout.write(`${endpoint}\n`)
