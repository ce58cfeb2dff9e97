/** What an owner reads when a bucket cannot be used. */
import { expect, test } from 'vitest'
import { existingBackup } from '../../src/cli/instance/opening.ts'
import type { Config } from '../../src/config/settings.ts'
import { placeAt } from '../../src/offsite/place.ts'
import { listBackups } from '../../src/offsite/remote_backups.ts'
import { openS3 } from '../../src/offsite/s3.ts'
import { readListing } from '../../src/offsite/xml.ts'
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
  return openS3(
    { dispatcher, clock: () => now, signal, quiet_ms: 1_500, limit_ms: 4_000 },
    placeOf(port, settings),
  )
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
    /10\.1\.2\.3 is a private address.*"10\.1\.2\.3\/32:9000"\] in \[outbound\].*without a config file, set the variable WINDFALL_OUTBOUND_ALLOW/,
  ],
  ['the endpoint is not encrypted', { endpoint: 'http://8.8.8.8' }, /http is not encrypted/],
])('says what to do if %s', async (_, settings, words) => {
  const { port } = await openBucketServer(() => NOW)
  await expect(listing(port, settings)).rejects.toThrow(words)
})

test.each([
  [{ access_key_id: 'AKIAOTHER' }, /does not know the access key AKIAOTHER/],
  [{ secret_access_key: 'other' }, /refuses the signature: the secret is not that of the access key/],
  [{ region: 'us-east-1' }, /is in another region: set region = "eu-central-1"/],
])('says of one object why it cannot be read: %o', async (settings, words) => {
  const { port } = await openBucketServer(() => NOW)
  await expect(bucketAt(port, settings).head('windfall/x')).rejects.toThrow(words)
})

test('tells an object that the key may not read from a wrong key', async () => {
  const bucket = await openBucketServer(() => NOW)
  bucket.behaviour.before = async () => ({ status: 403, code: 'AccessDenied' })
  await expect(bucketAt(bucket.port).head('windfall/x')).rejects.toThrow(
    /does not permit the access key .* to read objects/,
  )
})

const OBJECT =
  '<Contents><Key>windfall-x&#x110000;&#120;</Key><Size>1</Size><LastModified>2026-11-22</LastModified></Contents>'
const listingOf = (...parts: string[]) => `<ListBucketResult>${parts.join('')}</ListBucketResult>`

test('reads a list with an invalid character, and a long one in linear time', () => {
  const objects = [{ key: 'windfall-x&#x110000;x', bytes: 1, modified_at: NOW }]
  expect(readListing(listingOf(OBJECT))).toEqual({ objects, next: null })
  const began_at = performance.now()
  expect(readListing(listingOf('<Contents>'.repeat(800_000)))).toBeNull()
  expect(performance.now() - began_at).toBeLessThan(5_000)
})

test.each([
  ['a next page without its token', listingOf(OBJECT, '<IsTruncated>true</IsTruncated>')],
  ['an object without a size', listingOf(OBJECT.replace(/<Size>.*<.Size>/, ''))],
  ['an end that is missing', listingOf(OBJECT).replace('</ListBucketResult>', '')],
])('a list with %s is not taken for a whole one', (_, xml) => {
  expect(readListing(xml)).toBeNull()
})

test('a list that never ends is not read for ever', async () => {
  let pages = 0
  const endless = await openReceiver((socket, received) => {
    if (!received.endsWith('\r\n\r\n')) return
    pages += 1
    const token = `<NextContinuationToken>${pages}</NextContinuationToken>`
    const page = listingOf(OBJECT, '<IsTruncated>true</IsTruncated>', pages < 1_500 ? token : '')
    socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${page.length}\r\n\r\n${page}`)
  })
  await expect(listing(endless.port)).rejects.toThrow('lists more than 1,000 pages')
  expect(pages).toBe(1_000)
})

test('a list that has the same page again and again, and an answer that trickles, end', async () => {
  const page = listingOf(
    OBJECT,
    '<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>',
  )
  const circular = await openReceiver((socket, received) => {
    if (received.endsWith('\r\n\r\n'))
      socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${page.length}\r\n\r\n${page}`)
  })
  await expect(listing(circular.port)).rejects.toThrow('the same page again')
  const trickling = await openReceiver((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const timer = setInterval(() => socket.write(' '), 50)
    socket.on('close', () => clearInterval(timer)).on('error', () => {})
  })
  await expect(listing(trickling.port)).rejects.toThrow(/did not end its answer within 4 seconds/)
})

test.each([
  ['s3://AKIA:SECRET@bucket/w', 's3://…@bucket/w'],
  ['s3://AKIA:SEC/RET@bucket/w', 's3://…@bucket/w'],
  ['s3://AKIA:SECRET', 's3://…'],
  ['https://bucket.example.com/w?X-Amz-Signature=SECRET', 'https://bucket.example.com/w?…'],
])('never prints the key in %s', (url, shown) => {
  expect(() => placeOf(1, { url })).toThrow(shown)
  expect(() => placeOf(1, { url })).not.toThrow(/AKIA|SEC|RET/)
  expect(() => existingBackup(url)).toThrow(shown)
  expect(() => existingBackup(url)).not.toThrow(/AKIA|SEC|RET/)
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
  ['HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n<html>', /neither took nor sent anything for 1\.5 seconds/],
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
