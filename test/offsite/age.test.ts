/** The age of the newest backup in a bucket, in the doctor and as a finding. */
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect, test } from 'vitest'
import { openChecked } from '../doctor/checking.ts'
import { handClock } from '../helpers.ts'
import { bucketEnv, openBucketServer } from './bucket_server.ts'
import type { BucketService } from './bucket_service.ts'

const DAY = 86_400_000

/** A Windfall with scheduled backups, and with a bucket. `env` makes its variables. */
async function openScheduled(env: (bucket: BucketService, recipient: string) => Record<string, string>) {
  const clock = handClock()
  const bucket = await openBucketServer(clock)
  const recipient = await identityToRecipient(await generateIdentity())
  const variables = { ...env(bucket, recipient), WINDFALL_BACKUP_SCHEDULE: '30 3 * * *' }
  const checked = await openChecked({ env: variables, clock })
  const { app, call, check } = checked
  const elsewhere = async () => (await check('backup')).filter(({ id }) => id === 'backup:copied')
  const finding = async () => {
    const { rows } = (await call('GET', 'status')).body as unknown as {
      rows: { id: string; detail: string }[]
    }
    return rows.find(({ id }) => id === 'backup:copy')?.detail ?? null
  }
  return { app, bucket, elsewhere, finding, backUp: () => app.windfall.jobs.runNow('backup') }
}

test('before the first upload, and a week after the last, both warn', async () => {
  const { app, elsewhere, finding, backUp } = await openScheduled(bucketEnv)
  expect(await elsewhere()).toMatchObject([
    { status: 'warning', detail: 'No backup was uploaded to s3://example-backups/windfall.' },
  ])
  expect(await finding()).toMatch(/^no backup has been uploaded to s3:.* yet\. .*jobs run backup/i)
  expect((await backUp()).error).toBeNull()
  expect(await elsewhere()).toMatchObject([
    { status: 'ok', detail: expect.stringMatching(/\.age, [\d,]+ bytes, was made .*; 1 backup is there\.$/) },
  ])
  expect(await finding()).toBeNull()
  app.clock.turn(8 * DAY)
  expect(await elsewhere()).toMatchObject([
    { status: 'warning', remedy: expect.stringContaining('jobs run backup') },
  ])
  expect(await finding()).toMatch(/the last backup on another machine is s3:.*\.age, of 8 days ago/i)
})

test('the doctor asks the bucket: it says that a backup is gone, and why the bucket cannot be read', async () => {
  const { bucket, elsewhere, backUp } = await openScheduled(bucketEnv)
  await backUp()
  bucket.objects.clear()
  expect(await elsewhere()).toMatchObject([
    { status: 'error', detail: expect.stringMatching(/\.age was uploaded .*, but is gone\.$/) },
  ])
  bucket.behaviour.before = async () => ({ status: 403, code: 'AccessDenied' })
  expect(await elsewhere()).toMatchObject([
    { status: 'error', detail: expect.stringContaining('does not permit the access key') },
  ])
})

test('backups of other servers, and one that lost bytes, are not all well', async () => {
  const { bucket, elsewhere, backUp, app } = await openScheduled(bucketEnv)
  const foreign = 'windfall/windfall-2026-06-01T110000Z.tar.zst.age'
  bucket.objects.set(foreign, { bytes: Buffer.from('x'), modified_at: app.clock() })
  expect(await elsewhere()).toMatchObject([
    {
      status: 'warning',
      detail: expect.stringMatching(/^No backup was uploaded to .* by this server\. 1 backup is/),
    },
  ])
  expect((await backUp()).error).toBeNull()
  expect(await elsewhere()).toMatchObject([{ status: 'ok' }])
  for (const [key, object] of bucket.objects)
    bucket.objects.set(key, { ...object, bytes: object.bytes.subarray(1) })
  expect(await elsewhere()).toMatchObject([
    { status: 'error', detail: expect.stringContaining('others than those that were verified') },
  ])
})

test('a backup of which no size is recorded is not one that lost bytes', async () => {
  const { elsewhere, backUp, app } = await openScheduled(bucketEnv)
  await backUp()
  const { store } = app.windfall
  const forget = store.prepare<[]>("delete from settings where key = 'backup_uploads'")
  await store.commit(() => void forget.run())
  expect(await elsewhere()).toMatchObject([{ status: 'ok' }])
})

test('a copy of a clock that was ahead is no recent one', async () => {
  const { app, elsewhere, finding, backUp } = await openScheduled(bucketEnv)
  await backUp()
  app.clock.turn(-300 * DAY)
  expect(await finding()).toMatch(/the last backup on another machine is/i)
  expect(await elsewhere()).toMatchObject([{ status: 'warning' }])
})

test('a week without a copy by a command is a finding, too', async () => {
  const { app, finding, backUp } = await openScheduled((_, recipient) => ({
    WINDFALL_BACKUP_COMMAND: '["/bin/true", "{file}"]',
    WINDFALL_BACKUP_RECIPIENTS: recipient,
  }))
  expect(await finding()).toMatch(/no backup has been copied to another machine yet/i)
  await backUp()
  expect(await finding()).toBeNull()
  app.clock.turn(8 * DAY)
  expect(await finding()).toMatch(/the last backup on another machine is .*\.age, of 8 days ago/i)
})
