/** Backups in a bucket, from the first upload to the restore on a new machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect, test } from 'vitest'
import { bucketEnv, openBucketServer } from '../../offsite/bucket_server.ts'
import { BUCKET, type BucketService, KEY, withOtherEnd } from '../../offsite/bucket_service.ts'
import { folderOf, run, startServing } from '../../processes.ts'

const URL = `s3://${BUCKET}/windfall`

/** A bucket, and a folder with an identity and a configuration that uploads to the bucket. */
async function openOrigin() {
  const bucket = await openBucketServer()
  const identity = await generateIdentity()
  const { WINDFALL_OUTBOUND_ALLOW: allow = '' } = bucketEnv(bucket, '')
  const toml = [
    '[backup]',
    `to = "${URL}"`,
    `recipients = ["${await identityToRecipient(identity)}"]`,
    `endpoint = "${bucket.endpoint}"`,
    'region = "eu-central-1"',
    `access_key_id = "${KEY.id}"`,
    'secret_access_key_file = "bucket_secret"',
    `[outbound]\nallow = ["${allow}"]\n`,
  ].join('\n')
  const cwd = folderOf({ 'config.toml': toml, bucket_secret: `${KEY.secret}\n`, identity })
  return { bucket, cwd, toml, identity }
}

/** The variables with which a machine without a configuration reaches the bucket. */
function variablesFor(bucket: BucketService): Record<string, string> {
  const { WINDFALL_BACKUP_TO: _, WINDFALL_BACKUP_RECIPIENTS: __, ...env } = bucketEnv(bucket, '')
  return env
}

async function backUp(cwd: string) {
  const serving = await startServing({ cwd })
  const ended = await run(['jobs', 'run', 'backup'], { cwd })
  serving.kill('SIGTERM')
  await serving.ended
  return ended
}

test('uploads, lists, and restores the newest backup on a machine without a configuration', async () => {
  const { bucket, cwd, toml, identity } = await openOrigin()
  const none = await run(['backup', 'list', '--remote'], { cwd })
  expect([none.status, none.stdout]).toEqual([0, expect.stringContaining(`There is no backup in ${URL}.`)])
  const uploaded = await backUp(cwd)
  expect([uploaded.stderr, uploaded.status]).toEqual(['', 0])
  const [name = ''] = readdirSync(join(cwd, 'backups'))
  expect(uploaded.stdout).toContain(`uploaded to ${URL}/${name}, verified`)

  const size = bucket.objects.get(`windfall/${name}`)?.bytes.length
  const listed = await run(['backup', 'list', '--remote', '--json'], { cwd })
  expect(JSON.parse(listed.stdout)).toMatchObject({ place: URL, backups: [{ name, bytes: size }] })
  const local = await run(['backup', 'list'], { cwd })
  expect(local.stdout).toContain(`In ${join(cwd, 'backups')}:\n`)
  expect(local.stdout).toMatch(new RegExp(`\n${name} +[\\d,]+ bytes  `))

  const there = folderOf({ identity })
  const [dead, fresh, foreign] = ['999999999-a', '999999999-b', `${process.pid}-c`].map((end) =>
    join(there, `windfall-temporary-${end}`),
  )
  for (const folder of [dead, fresh, foreign] as string[]) mkdirSync(folder)
  for (const folder of [dead, foreign] as string[]) utimesSync(folder, 1, 1)
  const options = { cwd: there, env: variablesFor(bucket) }
  const restored = await run(['restore', URL, '--identity', 'identity'], options)
  expect(restored.stderr).toMatch(new RegExp(`^Fetching ${URL}/${name}, \\d+ MB …\n`))
  expect(restored.stdout).toContain(`verified; from ${URL}/${name} of `)
  expect(readFileSync(join(there, 'config.toml'), 'utf8')).toBe(toml)
  expect(readFileSync(join(there, 'bucket_secret'), 'utf8')).toBe(`${KEY.secret}\n`)
  expect(existsSync(join(there, 'data/windfall.db'))).toBe(true)
  const left = readdirSync(there).filter((one) => one.startsWith('windfall-temporary'))
  expect(left.map((name) => join(there, name)).sort()).toEqual([fresh, foreign].sort())

  const drill = join(there, 'drill')
  const inspected = await run(
    ['restore', `${URL}/${name}`, '--into', drill, '--identity', 'identity'],
    options,
  )
  expect([inspected.status, inspected.stdout]).toEqual([0, expect.stringContaining(`Restored ${drill}/`)])
})

test('a restore from a bucket says what is wrong before it fetches anything', async () => {
  const { bucket, cwd, identity } = await openOrigin()
  await backUp(cwd)
  const [name = ''] = readdirSync(join(cwd, 'backups'))
  const there = folderOf({ identity })
  const env = variablesFor(bucket)
  const refused = async (args: string[], others: Record<string, string> = {}) => {
    const { status, stderr } = await run(['restore', ...args], { cwd: there, env: { ...env, ...others } })
    expect([status, readdirSync(there)]).toEqual([1, ['identity']])
    return stderr
  }
  expect(await refused([URL])).toContain(`${URL}/${name} is encrypted; pass the file with its age identity`)
  expect(await refused([`s3://${BUCKET}/other`])).toContain(`there is no backup s3://${BUCKET}/other`)
  expect(await refused(['s3://no-such-bucket'])).toContain('There is no bucket no-such-bucket at 127.0.0.1')
  expect(await refused(['s3://b'])).toContain('s3://b does not name a bucket')
  const wrong = { WINDFALL_BACKUP_SECRET_ACCESS_KEY: 'wrong' }
  expect(await refused([URL], wrong)).toContain('refuses the signature')
  const { WINDFALL_BACKUP_ACCESS_KEY_ID: _, ...keyless } = env
  const { stderr } = await run(['restore', URL], { cwd: there, env: keyless })
  expect(stderr).toContain(`${URL} needs a key: set access_key_id and secret_access_key_file`)
  expect(bucket.requests.filter((request) => request.startsWith('GET')).length).toBe(1)
})

test('a restore into the database of a running server is refused before it fetches anything', async () => {
  const { bucket, cwd } = await openOrigin()
  await backUp(cwd)
  const serving = await startServing({ cwd })
  const { status, stderr } = await run(['restore', URL, '--identity', 'identity'], { cwd })
  serving.kill('SIGTERM')
  await serving.ended
  expect([status, stderr]).toEqual([1, expect.stringMatching(/ is being served by process \d+/)])
  expect(bucket.requests.filter((request) => request.startsWith('GET'))).toEqual([])
})

test('a damaged object is refused, and nothing stays', async () => {
  const { bucket, cwd, identity } = await openOrigin()
  await backUp(cwd)
  const [key = ''] = bucket.objects.keys()
  const object = bucket.objects.get(key)
  if (object) object.bytes = withOtherEnd(object.bytes)
  const there = folderOf({ identity })
  const args = ['restore', URL, '--identity', 'identity']
  const { status, stderr } = await run(args, { cwd: there, env: variablesFor(bucket) })
  expect([status, stderr]).toEqual([1, expect.stringContaining('damaged')])
  expect(existsSync(join(there, 'data/windfall.db'))).toBe(false)
  expect(readdirSync(there).filter((one) => one.startsWith('windfall-temporary'))).toEqual([])
})

test('backup list --remote without a bucket says what to set', async () => {
  const cwd = folderOf()
  const { status, stderr } = await run(['backup', 'list', '--remote'], { cwd })
  expect([status, stderr]).toEqual([1, expect.stringContaining('set to = "s3://…" in [backup]')])
  writeFileSync(join(cwd, 'config.toml'), '')
  const local = await run(['backup', 'list'], { cwd })
  expect(local.stdout).toMatch(/^There is no backup in .*backups\. To make one: .* jobs run backup\n$/)
})
