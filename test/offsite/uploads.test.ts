/** Scheduled backups that are uploaded to a bucket. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect, test } from 'vitest'
import { openUploads } from '../../src/offsite/uploads.ts'
import { openBackupLog } from '../../src/store/backup/log.ts'
import { openHeldMark } from '../../src/store/held_mark.ts'
import { temporaryFolder } from '../folders.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { handClock, openTestApp, type TestOptions } from '../helpers.ts'
import { bucketEnv, openBucketServer } from './bucket_server.ts'
import { BUCKET, type BucketService, withOtherEnd } from './bucket_service.ts'

const DAY = 86_400_000

/** A Windfall that uploads to a bucket, by default a new one. */
async function openUploading(
  env: Record<string, string> = {},
  { given, ...options }: TestOptions & { given?: BucketService } = {},
) {
  const clock = options.clock ?? handClock()
  const bucket = given ?? (await openBucketServer(clock))
  const recipient = await identityToRecipient(await generateIdentity())
  const app = await openTestApp({ ...options, clock, env: { ...bucketEnv(bucket, recipient), ...env } })
  const folder = join(app.folder, 'backups')
  const backUp = () => app.windfall.jobs.runNow('backup')
  const newest = () => readdirSync(folder).sort().at(-1) ?? ''
  const lastCopied = () => openBackupLog(app.windfall.store).lastCopied()
  return { app, bucket, folder, backUp, newest, lastCopied }
}

const keysOf = (bucket: { objects: Map<string, unknown> }): string[] => [...bucket.objects.keys()].sort()

test('uploads each scheduled backup under a temporary key, verifies it, and gives it its name', async () => {
  const { app, bucket, folder, backUp, newest, lastCopied } = await openUploading()
  const { outcome, error } = await backUp()
  const name = newest()
  const url = `s3://${BUCKET}/windfall/${name}`
  expect(error).toBeNull()
  expect(outcome).toMatch(/ verified; 0 expired backups deleted; uploaded to /)
  expect(outcome).toContain(`uploaded to ${url}, verified; 0 expired backups deleted there`)
  expect(name).toMatch(/\.age$/)
  expect(keysOf(bucket)).toEqual([`windfall/${name}`])
  expect(bucket.objects.get(`windfall/${name}`)?.bytes.equals(readFileSync(join(folder, name)))).toBe(true)
  const [key, partial] = [`windfall/${name}`, `windfall/${name}.partial`]
  expect(bucket.requests).toEqual([
    'LIST',
    `PUT ${partial}`,
    `HEAD ${partial}`,
    `COPY ${key}`,
    `HEAD ${key}`,
    `DELETE ${partial}`,
    'LIST',
  ])
  expect(lastCopied()).toEqual({ at: app.clock(), file: url })
})

test('keeps in the bucket what it keeps in the folder, and nothing else is deleted', async () => {
  const keep = { WINDFALL_BACKUP_DAILY: '5', WINDFALL_BACKUP_WEEKLY: '0', WINDFALL_BACKUP_MONTHLY: '0' }
  const { app, bucket, folder, backUp } = await openUploading(keep)
  const strangers = [
    'windfall/photo.jpg',
    'windfall/windfall-notes.txt',
    'windfall/old/windfall-2020-01-01T000000Z.tar.zst.age',
    'windfall-2020-01-01T000000Z.tar.zst.age',
  ]
  for (const key of strangers) bucket.objects.set(key, { bytes: Buffer.from('mine'), modified_at: 0 })
  for (let night = 0; night < 7; night += 1) {
    expect((await backUp()).error).toBeNull()
    app.clock.turn(DAY)
  }
  const names = readdirSync(folder)
  expect(names).toHaveLength(5)
  expect(keysOf(bucket)).toEqual([...strangers, ...names.map((name) => `windfall/${name}`)].sort())
})

test('never deletes the backup that it verified last, also if others are newer by name', async () => {
  const env = { WINDFALL_BACKUP_DAILY: '1', WINDFALL_BACKUP_WEEKLY: '0', WINDFALL_BACKUP_MONTHLY: '0' }
  const { bucket, backUp, newest } = await openUploading(env)
  const ahead = 'windfall/windfall-2099-01-01T000000Z.tar.zst.age'
  bucket.objects.set(ahead, { bytes: Buffer.from('ahead'), modified_at: 0 })
  expect((await backUp()).error).toBeNull()
  expect(keysOf(bucket)).toEqual([`windfall/${newest()}`, ahead].sort())
})

test.each(['PUT', 'COPY'])(
  'a backup whose bytes change in the %s is not there, and nothing is deleted',
  async (name) => {
    expectErrors('a job failed')
    const { app, bucket, backUp, newest, lastCopied } = await openUploading({ WINDFALL_BACKUP_DAILY: '1' })
    await backUp()
    const [good] = keysOf(bucket)
    app.clock.turn(DAY)
    bucket.behaviour.store = (request, bytes) => (request === name ? withOtherEnd(bytes) : bytes)
    const copied = lastCopied()
    const { error } = await backUp()
    expect(error).toMatch(/is verified, but is not in s3:.*The bucket has other bytes: their SHA-256 is/)
    expect(keysOf(bucket)).toEqual([good, `windfall/${newest()}.partial`])
    expect(lastCopied()).toEqual(copied)

    bucket.behaviour.store = (_, bytes) => bytes
    app.clock.turn(DAY)
    expect((await backUp()).error).toBeNull()
    expect(keysOf(bucket).filter((key) => key.endsWith('.partial'))).toEqual([])
  },
)

test('reads a backup back where the service tells no checksum', async () => {
  expectErrors('a job failed')
  const { app, bucket, backUp, newest } = await openUploading()
  bucket.behaviour.tellsChecksums = false
  expect((await backUp()).error).toBeNull()
  expect(bucket.requests).toContain(`GET windfall/${newest()}.partial`)
  expect(bucket.requests).not.toContain(`GET windfall/${newest()}`)
  app.clock.turn(DAY)
  bucket.behaviour.store = (_, bytes) => withOtherEnd(bytes)
  expect((await backUp()).error).toContain('The bucket has other bytes')
})

test('reads the copy back, too, where the service tells neither a checksum nor a tag', async () => {
  expectErrors('a job failed')
  const { bucket, backUp, newest } = await openUploading()
  Object.assign(bucket.behaviour, { tellsChecksums: false, tellsTags: false })
  bucket.behaviour.store = (name, bytes) => (name === 'COPY' ? withOtherEnd(bytes) : bytes)
  expect((await backUp()).error).toContain('The bucket has other bytes')
  expect(bucket.requests).toContain(`GET windfall/${newest()}`)
})

test('does not delete what another server has written under the same key', async () => {
  expectErrors('a job failed')
  const { bucket, backUp, newest } = await openUploading()
  const theirs = Buffer.from('of another server')
  bucket.behaviour.before = async ({ name, key }) => {
    if (name === 'HEAD' && key.endsWith('.age')) bucket.objects.set(key, { bytes: theirs, modified_at: 0 })
    return null
  }
  expect((await backUp()).error).toContain('another server may have written it')
  const key = `windfall/${newest()}`
  expect(bucket.objects.get(key)?.bytes).toEqual(theirs)
  bucket.behaviour.before = async () => null
  expect((await backUp()).error).toBeNull()
  expect(bucket.objects.get(key)?.bytes).toEqual(theirs)
})

test('uploads nothing while outgoing requests are held, because the original may use the bucket', async () => {
  const clock = handClock()
  const { app, bucket, backUp } = await openUploading({}, { clock })
  const { held } = app.windfall.outgoing
  const { store } = app.windfall
  await store.commit(() => openHeldMark(store).set({ reason: 'restored', at: clock() }))
  expect(held.state()).toMatchObject({ reason: 'restored' })
  const { outcome, error } = await backUp()
  expect(error).toBeNull()
  expect(outcome).toMatch(/not uploaded, because outgoing requests are held \(.*outgoing resume\)/)
  expect(bucket.requests).toEqual([])
})

/** The request at which a test stops the server, and what the bucket then has besides the next backup. */
const STOPS = [
  ['PUT', []],
  ['HEAD', ['.partial']],
  ['COPY', ['.partial']],
  ['DELETE', ['', '.partial']],
] as const

test.each(STOPS)(
  'a stop before the answer of %s does not wait, and the next upload cleans up',
  async (name, left) => {
    const { path: folder } = temporaryFolder()
    const clock = handClock()
    const { app, bucket, backUp, newest } = await openUploading({}, { folder, clock })
    const reached = Promise.withResolvers<void>()
    bucket.behaviour.before = async (request) => {
      if (request.name !== name) return null
      reached.resolve()
      return new Promise(() => {})
    }
    const running = backUp().catch((error) => error)
    await reached.promise
    const began_at = performance.now()
    await app.windfall.close()
    expect(performance.now() - began_at).toBeLessThan(5000)
    await running
    const stopped = newest()
    expect(keysOf(bucket)).toEqual(left.map((end) => `windfall/${stopped}${end}`))

    bucket.behaviour.before = async () => null
    clock.turn(DAY)
    const again = await openUploading({}, { folder, clock, apps: [], given: bucket })
    expect((await again.backUp()).error).toBeNull()
    const kept = name === 'DELETE' ? [`windfall/${stopped}`] : []
    expect(keysOf(bucket)).toEqual([...kept, `windfall/${newest()}`])
  },
)

test('an upload that stops before its copy is verified is verified by the next, or deleted', async () => {
  const { path: folder } = temporaryFolder()
  const clock = handClock()
  const { app, bucket, backUp, newest } = await openUploading({}, { folder, clock })
  const reached = Promise.withResolvers<void>()
  bucket.behaviour.store = (name, bytes) => (name === 'COPY' ? bytes.subarray(1) : bytes)
  bucket.behaviour.before = async ({ name, key }) => {
    if (name !== 'HEAD' || key.endsWith('.partial')) return null
    reached.resolve()
    return new Promise(() => {})
  }
  const running = backUp().catch((error) => error)
  await reached.promise
  await app.windfall.close()
  await running
  expect(keysOf(bucket)).toEqual([`windfall/${newest()}`, `windfall/${newest()}.partial`])

  Object.assign(bucket.behaviour, { before: async () => null, store: (_: string, bytes: Buffer) => bytes })
  clock.turn(DAY)
  const again = await openUploading({}, { folder, clock, apps: [], given: bucket })
  expect((await again.backUp()).error).toBeNull()
  expect(keysOf(bucket)).toEqual([`windfall/${newest()}`])
})

test('a failed upload is tried again with the same backup, until the next is scheduled', async () => {
  expectErrors('a job failed')
  const env = { WINDFALL_BACKUP_SCHEDULE: '30 3 * * *' }
  const { app, bucket, folder, backUp, newest } = await openUploading(env)
  const { jobs } = app.windfall
  bucket.behaviour.before = async ({ name }) => (name === 'PUT' ? { status: 503, code: 'SlowDown' } : null)
  expect((await backUp()).error).toContain('SlowDown')
  for (let attempt = 0; attempt < 3; attempt += 1) {
    app.clock.turn(10 * 60_000)
    await jobs.tick()
  }
  expect(jobs.list().find(({ job }) => job === 'backup')?.failures).toBe(4)
  const [first = '', ...others] = readdirSync(folder)
  expect(others).toEqual([])
  bucket.behaviour.before = async () => null
  app.clock.turn(20 * 60_000)
  await jobs.tick()
  expect(jobs.list().find(({ job }) => job === 'backup')).toMatchObject({
    error: null,
    outcome: expect.stringMatching(/ verified earlier; .*uploaded to /),
  })
  expect([readdirSync(folder), keysOf(bucket)]).toEqual([[first], [`windfall/${first}`]])

  bucket.behaviour.before = async ({ name }) => (name === 'PUT' ? { status: 503, code: 'SlowDown' } : null)
  app.clock.turn(DAY)
  await backUp()
  bucket.behaviour.before = async () => null
  app.clock.turn(DAY)
  await jobs.tick()
  expect([readdirSync(folder).length, keysOf(bucket)]).toEqual([
    3,
    [`windfall/${first}`, `windfall/${newest()}`],
  ])
})

test('where deletion is refused, only that is tried again, and the next backup is uploaded', async () => {
  expectErrors('a job failed')
  const { app, bucket, folder, backUp } = await openUploading({ WINDFALL_BACKUP_SCHEDULE: '30 3 * * *' })
  const { jobs } = app.windfall
  const puts = () => bucket.requests.filter((request) => request.startsWith('PUT')).length
  bucket.behaviour.before = async ({ name }) =>
    name === 'DELETE' ? { status: 403, code: 'AccessDenied' } : null
  expect((await backUp()).error).toContain('what is no longer needed')
  app.clock.turn(10 * 60_000)
  await jobs.tick()
  expect([readdirSync(folder).length, puts()]).toEqual([1, 1])
  app.clock.turn(DAY)
  expect((await backUp()).error).toContain('what is no longer needed')
  expect([readdirSync(folder).length, puts()]).toEqual([2, 2])
  bucket.behaviour.before = async () => null
  app.clock.turn(20 * 60_000)
  await jobs.tick()
  expect(jobs.list().find(({ job }) => job === 'backup')).toMatchObject({ error: null })
  expect(keysOf(bucket)).toEqual(readdirSync(folder).map((name) => `windfall/${name}`))
})

test('two servers with one prefix do not delete or replace the backups of each other', async () => {
  const env = { WINDFALL_BACKUP_DAILY: '2', WINDFALL_BACKUP_WEEKLY: '0', WINDFALL_BACKUP_MONTHLY: '0' }
  const clock = handClock()
  const one = await openUploading(env, { clock })
  const other = await openUploading(env, { clock, given: one.bucket })
  for (let night = 0; night < 3; night += 1) {
    expect((await one.backUp()).error).toBeNull()
    const { error, outcome } = await other.backUp()
    expect([error, outcome]).toEqual([null, expect.stringContaining('that this server did not upload')])
    clock.turn(DAY)
  }
  expect(keysOf(one.bucket)).toHaveLength(4)
  for (const { folder } of [one, other])
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name))
      const stored = [...one.bucket.objects.values()].filter((object) => object.bytes.equals(bytes))
      expect(stored).toHaveLength(1)
    }
})

test('refuses a backup that S3 does not take in one request', async () => {
  const { app, bucket, backUp, folder, newest } = await openUploading()
  await backUp()
  const uploads = openUploads(app.windfall)
  const { backup } = app.config
  const to = backup.to ?? ''
  const made = { file: join(folder, newest()), bytes: 5 * 1024 ** 3 + 1, sha256: 'a'.repeat(64) }
  const puts = () => bucket.requests.filter((request) => request.startsWith('PUT')).length
  const large = { ...made, file: join(folder, 'windfall-2026-06-02T120000Z.tar.zst.age') }
  await expect(uploads.upload(large, to, backup)).rejects.toThrow(
    /is verified, but is not in s3:.* larger than 5 GiB, which S3 does not accept in one request\. Set command/,
  )
  expect(puts()).toBe(1)
  await uploads.close()
})
