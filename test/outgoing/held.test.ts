import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verbsOf } from '../../src/control/verbs.ts'
import { restore } from '../../src/store/backup/restore.ts'
import { BUNDLE } from '../apple/samples.ts'
import { temporaryFolder } from '../folders.ts'
import { openForwardingApp, openHttpReceiver } from '../forwarding/receiving.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

const lastSeq = ({ windfall }: TestApp): number => windfall.feed.head()
const identify = (app: TestApp, appUserId: string) =>
  app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE })
const run = (app: TestApp, verb: string, args: object = {}) => verbsOf(app.windfall)[verb]?.(args)
const instanceFile = (folder: string): string => join(folder, 'data/instance')

/** Opens an instance with one event, and closes it again. */
async function servedFolder(): Promise<string> {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  await identify(app, 'ann')
  expect(app.windfall.outgoing.held.state()).toBeNull()
  await app.close()
  return folder
}

/** Copies the database and its key as someone would who does not know of the file `instance`. */
function copyDatabase(from: string, name = 'windfall.db'): string {
  const { path: folder } = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  cpSync(join(from, 'data/windfall.db'), join(folder, 'data', name))
  return folder
}

const findingIds = async ({ windfall }: TestApp): Promise<(string | undefined)[]> =>
  (await windfall.health.findings()).map(({ details }) => details?.id)

test('a database keeps its id, and is not held at the next start', async () => {
  const folder = await servedFolder()
  const before = readFileSync(instanceFile(folder), 'utf8')
  expect(before).toMatch(/^# .+\nins_[0-9a-f]{16} windfall\.db\n$/)
  const again = await openTestApp({ folder, apps: [] })
  expect(again.windfall.outgoing.held.state()).toBeNull()
  expect(readFileSync(instanceFile(folder), 'utf8')).toBe(before)
  await identify(again, 'bob')
  expect(lastSeq(again)).toBeLessThan(1_000)
})

test('a copy of a database is held, once, with its numbers raised', async () => {
  const folder = await servedFolder()
  const copy = copyDatabase(folder)
  const app = await openTestApp({ folder: copy, apps: [] })
  expect(app.windfall.outgoing.held.state()).toEqual({ reason: 'copied', at: app.clock() })
  expect(await findingIds(app)).toContain('outgoing:held')
  await identify(app, 'bob')
  const seq = lastSeq(app)
  expect(seq).toBeGreaterThan(1_000_000)
  await app.close()
  const again = await openTestApp({ folder: copy, apps: [] })
  expect(again.windfall.outgoing.held.state()).toMatchObject({ reason: 'copied' })
  await identify(again, 'carl')
  expect(lastSeq(again)).toBe(seq + 1)
  // The original keeps its id and is not held.
  const original = await openTestApp({ folder, apps: [] })
  expect(original.windfall.outgoing.held.state()).toBeNull()
})

test('a copy beside the original is held, and the original is not', async () => {
  const folder = await servedFolder()
  cpSync(join(folder, 'data/windfall.db'), join(folder, 'data/staging.db'))
  const copy = await openTestApp({ folder, apps: [], env: { WINDFALL_STORE_PATH: './data/staging.db' } })
  expect(copy.windfall.outgoing.held.state()).toMatchObject({ reason: 'copied' })
  const original = await openTestApp({ folder, apps: [] })
  expect(original.windfall.outgoing.held.state()).toBeNull()
  expect(readFileSync(instanceFile(folder), 'utf8').match(/^ins_/gm)).toHaveLength(2)
})

test('a moved database is held unless the file instance moves with it', async () => {
  const folder = await servedFolder()
  const { path: other } = temporaryFolder()
  renameSync(join(folder, 'data'), join(other, 'data'))
  const app = await openTestApp({ folder: other, apps: [] })
  expect(app.windfall.outgoing.held.state()).toBeNull()
})

test('a database of a version without ids gets one and is not held', async () => {
  const { path: folder } = temporaryFolder()
  const app = await openTestApp({ folder })
  await app.windfall.store.commit(() =>
    app.windfall.store.prepare("delete from settings where key = 'instance_id'").run(),
  )
  await app.close()
  const again = await openTestApp({ folder: copyDatabase(folder), apps: [] })
  expect(again.windfall.outgoing.held.state()).toBeNull()
})

test('a crash after the first id was written to the file only completes it', async () => {
  const folder = await servedFolder()
  const file = readFileSync(instanceFile(folder), 'utf8')
  const app = await openTestApp({ folder, apps: [] })
  const { store } = app.windfall
  await store.commit(() => store.prepare("delete from settings where key = 'instance_id'").run())
  await app.close()
  for (const _ of [1, 2]) {
    const again = await openTestApp({ folder, apps: [] })
    expect(again.windfall.outgoing.held.state()).toBeNull()
    expect(readFileSync(instanceFile(folder), 'utf8')).toBe(file)
    await again.close()
  }
})

test('a crash between the commit and the file only repeats the check', async () => {
  const folder = await servedFolder()
  const copy = copyDatabase(folder)
  await (await openTestApp({ folder: copy, apps: [] })).close()
  // The file as it was before the new id was written to it.
  cpSync(instanceFile(folder), instanceFile(copy))
  const app = await openTestApp({ folder: copy, apps: [] })
  expect(app.windfall.outgoing.held.state()).toMatchObject({ reason: 'copied' })
  await app.close()
  const again = await openTestApp({ folder: copy, apps: [] })
  await identify(again, 'bob')
  expect(lastSeq(again)).toBeGreaterThan(2_000_000)
  expect(lastSeq(again)).toBeLessThan(3_000_000)
})

test('lines that no version wrote are ignored', async () => {
  const folder = await servedFolder()
  writeFileSync(
    instanceFile(folder),
    `\u0000\nins_zz windfall.db\n${readFileSync(instanceFile(folder), 'utf8')}`,
  )
  const app = await openTestApp({ folder, apps: [] })
  expect(app.windfall.outgoing.held.state()).toBeNull()
})

test('the owner resumes outgoing requests, which is audited once', async () => {
  const app = await openTestApp({ folder: copyDatabase(await servedFolder()), apps: [] })
  expect(await run(app, 'outgoing.resume')).toEqual({ was_held: true })
  expect(app.windfall.outgoing.held.state()).toBeNull()
  expect(await findingIds(app)).not.toContain('outgoing:held')
  expect(await run(app, 'outgoing.resume')).toEqual({ was_held: false })
  const audited = app.windfall.audit.list(null, 50)
  expect(JSON.stringify(audited).match(/outgoing\.resumed/g)).toHaveLength(1)
  await app.close()
})

test('resuming from the head skips what waits for webhooks, which can be replayed', async () => {
  const receiver = await openHttpReceiver()
  const { path: folder } = temporaryFolder()
  const original = await openForwardingApp({ folder })
  const { endpoint } = await original.addEndpoint(receiver.url)
  await run(original, 'webhooks.pause', { name: endpoint.id })
  const [waiting] = await original.append(1)
  await run(original, 'webhooks.resume', { name: endpoint.id, from: 'waiting' })
  await original.close()
  const before = receiver.ids().length
  const copied = copyDatabase(folder)
  cpSync(join(folder, 'data/windfall.key'), join(copied, 'data/windfall.key'))
  const copy = await openForwardingApp({ folder: copied, apps: [] })
  await copy.append(1)
  await copy.settled()
  expect(receiver.ids()).toHaveLength(before)
  const test = run(copy, 'webhooks.test', { name: endpoint.id, type: 'gap.found' })
  await expect(test).rejects.toMatchObject({ code: 'outgoing_held' })
  await run(copy, 'outgoing.resume', { from_head: true })
  const [next] = await copy.append(1)
  await copy.settled()
  expect(receiver.ids().slice(before)).toEqual([next])
  await run(copy, 'webhooks.replay', { name: endpoint.id, from_seq: 1, until_seq: 1_000 })
  await copy.settled()
  expect(receiver.ids().slice(before + 1)).toContain(waiting)
})

test('a restored database is held before its first start, also in its own place', async () => {
  const folder = await servedFolder()
  const app = await openTestApp({ folder, apps: [] })
  await app.windfall.backups.backup(`${folder}/backup.tar`, null)
  await app.close()
  await restore({
    backup: `${folder}/backup.tar`,
    key: null,
    database: null,
    folder,
    allowsAbsolutePath: true,
    clock: app.clock,
  })
  expect(existsSync(instanceFile(folder))).toBe(true)
  expect(readdirSync(join(folder, 'data')).filter((name) => name.includes('partial'))).toEqual([])
  const again = await openTestApp({ folder, apps: [] })
  expect(again.windfall.outgoing.held.state()).toEqual({ reason: 'restored', at: app.clock() })
})
