/** Fetching a backup: what changes or breaks off on the way is not taken for it. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { beginningOf, download } from '../../src/offsite/downloads.ts'
import { placeAt } from '../../src/offsite/place.ts'
import { findBackup } from '../../src/offsite/remote_backups.ts'
import { openS3 } from '../../src/offsite/s3.ts'
import { temporaryFolder } from '../folders.ts'
import { dispatcherWith } from '../outgoing/receiver.ts'
import { openBucketServer } from './bucket_server.ts'
import { BUCKET, KEY } from './bucket_service.ts'

const NAMES = ['2026-11-20', '2026-11-22', '2026-11-21'].map((day) => `windfall-${day}T033000Z.tar.zst.age`)
const CONTENT = Buffer.alloc(700_000, 'backup')

/** A bucket with three backups and one that was put there by hand; `at` reads it through a URL. */
async function openFilled() {
  const now = () => Date.UTC(2026, 10, 23)
  const bucket = await openBucketServer(now)
  const keys = [...NAMES.map((name) => `w/${name}`), `w/${NAMES[1]}.partial`, 'w/by-hand.tar']
  for (const key of keys) bucket.objects.set(key, { bytes: CONTENT, modified_at: now() })
  const dispatcher = dispatcherWith({ allow: ['127.0.0.1'] })
  const at = (path: string) => {
    const place = placeAt(`s3://${BUCKET}${path}`, {
      endpoint: bucket.endpoint,
      region: 'eu-central-1',
      access_key_id: KEY.id,
      secret_access_key: KEY.secret,
    })
    const s3 = openS3({ dispatcher, clock: now, signal: new AbortController().signal }, place)
    return { s3, find: () => findBackup(s3, place) }
  }
  return { bucket, at, file: join(temporaryFolder().path, 'fetched') }
}

test('a prefix stands for its newest backup, a key for itself', async () => {
  const { at } = await openFilled()
  const url = (name = '') => ({ url: `s3://${BUCKET}/w/${name}`, bytes: CONTENT.length })
  expect(await at('/w').find()).toMatchObject(url(NAMES[1]))
  expect(await at('/w/').find()).toMatchObject(url(NAMES[1]))
  expect(await at(`/w/${NAMES[0]}`).find()).toMatchObject(url(NAMES[0]))
  expect(await at('/w/by-hand.tar').find()).toMatchObject(url('by-hand.tar'))
  for (const path of ['', '/other', '/w/windfall-2020-01-01T000000Z.tar.zst'])
    await expect(at(path).find()).rejects.toMatchObject({ code: 'no_backup' })
})

test('fetches a backup into a file of the owner, and reads only the beginning of one', async () => {
  const { at, file } = await openFilled()
  const { s3, find } = at('/w')
  const found = await find()
  expect(await beginningOf(s3, found.key, 512)).toEqual(CONTENT.subarray(0, 512))
  const progress: number[] = []
  await download(s3, found, file, (received) => progress.push(received))
  expect(readFileSync(file).equals(CONTENT)).toBe(true)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(progress.at(-1)).toBe(CONTENT.length)
  await expect(download(s3, found, file, () => {})).rejects.toThrow('EEXIST')
})

test.each([
  ['other bytes', Buffer.alloc(CONTENT.length, 'other!'), 'does not have its checksum'],
  ['more bytes', Buffer.alloc(CONTENT.length + 1), `More than the ${CONTENT.length} bytes`],
  ['fewer bytes', CONTENT.subarray(1), `${CONTENT.length - 1} of ${CONTENT.length} bytes`],
])('%s than the bucket said are refused', async (_, bytes, words) => {
  const { bucket, at, file } = await openFilled()
  const { s3, find } = at('/w')
  const found = await find()
  bucket.behaviour.before = async ({ name, key }) => {
    if (name === 'GET') bucket.objects.set(key, { bytes, modified_at: 0 })
    return null
  }
  await expect(download(s3, found, file, () => {})).rejects.toThrow(words)
})

test('a backup that is deleted meanwhile is named as missing', async () => {
  const { bucket, at, file } = await openFilled()
  const { s3, find } = at('/w')
  const found = await find()
  bucket.objects.clear()
  await expect(download(s3, found, file, () => {})).rejects.toThrow(/NoSuchKey/)
  expect(existsSync(file)).toBe(false)
})
