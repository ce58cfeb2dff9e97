/** What an owner reads when a bucket cannot be used. */
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/settings.ts'
import { placeAt } from '../../src/offsite/place.ts'
import { listBackups } from '../../src/offsite/remote_backups.ts'
import { openS3 } from '../../src/offsite/s3.ts'
import { dispatcherWith, openReceiver } from '../outgoing/receiver.ts'
import { openBucketServer } from './bucket_server.ts'
import { BUCKET, KEY } from './bucket_service.ts'

type Settings = Partial<Config['backup']> & { url?: string }

const NOW = Date.UTC(2026, 10, 22)

/** The place at a port of this machine with the settings. */
const placeOf = (port: number, { url = `s3://${BUCKET}/windfall`, ...settings }: Settings = {}) =>
  placeAt(url, {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-central-1',
    access_key_id: KEY.id,
    secret_access_key: KEY.secret,
    ...settings,
  })

function bucketAt(port: number, settings: Settings = {}, now = NOW) {
  const dispatcher = dispatcherWith({ allow: ['127.0.0.1'] })
  const { signal } = new AbortController()
  return openS3({ dispatcher, clock: () => now, signal, quiet_ms: 300 }, placeOf(port, settings))
}

const listing = async (port: number, settings: Settings = {}, now = NOW) =>
  listBackups(bucketAt(port, settings, now), placeOf(port, settings))

test.each([
  [
    'the id of the key is wrong',
    { access_key_id: 'AKIAOTHER' },
    /does not know the access key AKIAOTHER\. Correct access_key_id/,
  ],
  [
    'the secret is wrong',
    { secret_access_key: 'other' },
    /refuses the signature: the secret is not that of the access key AKIA.*secret_access_key/,
  ],
  [
    'there is no bucket',
    { url: 's3://no-such-bucket/w' },
    /There is no bucket no-such-bucket at 127\.0\.0\.1:\d+\. Create it/,
  ],
  ['the region is wrong', { region: 'us-east-1' }, /is in another region: set region = "eu-central-1"/],
  [
    'the endpoint is in a private network',
    { endpoint: 'http://10.1.2.3:9000' },
    /10\.1\.2\.3 is a private address.*\[outbound\]/,
  ],
  ['the endpoint is not encrypted', { endpoint: 'http://8.8.8.8' }, /http is not encrypted/],
])('says what to do if %s', async (_, settings, words) => {
  const { port } = await openBucketServer(() => NOW)
  await expect(listing(port, settings)).rejects.toThrow(words)
})

test('says by how much the clock differs, and in which direction', async () => {
  const { port } = await openBucketServer(() => NOW)
  await expect(listing(port, {}, NOW - 3 * 3_600_000)).rejects.toThrow(
    /clock of this machine is 3 hours behind that of 127\.0\.0\.1:\d+\. Synchronize it with NTP\./,
  )
  await expect(listing(port, {}, NOW + 3_600_000)).rejects.toThrow(/is 60 minutes ahead of that of/)
})

test.each([
  [
    { status: 403, code: 'AccessDenied' },
    /does not permit the access key AKIA.* to list objects in the bucket example-backups/,
  ],
  [{ status: 503, code: 'SlowDown' }, /answered with status 503 \(SlowDown\)\. Try again later\./],
  [
    { status: 301, code: 'PermanentRedirect' },
    /redirects requests for the bucket .* Correct region and endpoint/,
  ],
  [{ status: 400, code: 'InvalidArgument' }, /answered InvalidArgument: What InvalidArgument means/],
])('explains the answer %o', async (fault, words) => {
  const bucket = await openBucketServer(() => NOW)
  bucket.behaviour.before = async () => fault
  await expect(listing(bucket.port)).rejects.toThrow(words)
})

test.each([
  ['HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>', /does not answer as S3 does\. Correct endpoint/],
  [
    'HTTP/1.1 404 Not Found\r\ncontent-length: 6\r\n\r\n<html>',
    /status 404, but not as S3 does\. Correct endpoint/,
  ],
  ['HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n<html>', /neither took nor sent anything for 0\.3 seconds/],
])('a server that is not S3 is named: %j', async (response, words) => {
  const { port } = await openReceiver((socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.write(response)
  })
  await expect(listing(port)).rejects.toThrow(words)
})

test('an answer that breaks off, a server that is not there, and one that says nothing are told apart', async () => {
  const broken = await openReceiver((socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n<List')
  })
  await expect(listing(broken.port)).rejects.toThrow(/The connection to .* broke off\. Try again\./)
  const silent = await openReceiver(() => {})
  await expect(listing(silent.port)).rejects.toThrow(/neither took nor sent anything/)
  await expect(listing(1)).rejects.toThrow(/could not be reached \(ECONNREFUSED\)/)
})

test('a file that is gone, and a service that is not reached, leave nothing open', async () => {
  const bucket = await openBucketServer(() => NOW)
  const file = { file: '/nonexistent/backup', bytes: 5, sha256: 'a'.repeat(64) }
  const s3 = bucketAt(bucket.port)
  await expect(s3.put('windfall/x', file)).rejects.toThrow(/^It cannot be read: .*ENOENT/)
  await expect(bucketAt(1).put('windfall/x', file)).rejects.toThrow('ECONNREFUSED')
  expect(bucket.objects.size).toBe(0)
})
