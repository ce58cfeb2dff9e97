import { closeSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { diagnose } from '../../../src/cli/doctor/diagnose.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { openTestApp } from '../../helpers.ts'
import { openTestStore } from '../open.ts'

const DAY = 86_400_000
const failing = (code: string) => () => {
  throw new Database.SqliteError('disk I/O error', code)
}

type Row = { id: string; level: string; detail: string; since: number | null }

async function opened(folder?: string) {
  const logged: string[] = []
  const env = { WINDFALL_RATES_FETCH: 'false' }
  const app = await openTestApp({ logged, env, ...(folder !== undefined && { folder, apps: [] }) })
  const bearer = { headers: { authorization: `Bearer ${await app.token()}` } }
  const rows = async (): Promise<Row[]> => {
    const { rows } = (await (await app.request('/api/v1/status', bearer)).json()) as { rows: Row[] }
    return rows.filter(({ id }) => id.startsWith('dis') || id.startsWith('database'))
  }
  const doctor = async (): Promise<string[]> => {
    const loadOptions = { cwd: app.folder, env }
    const found: string[] = []
    const nowhere = 'http://127.0.0.1:1'
    const hosts = { connect: nowhere, server: { production: nowhere, sandbox: nowhere } }
    const options = { loadOptions, isTestRequested: false, clock: app.clock, hosts, wait: async () => {} }
    for await (const { title, status, detail, remedy } of diagnose(options))
      if (title === 'Database') found.push(`${status} ${detail} ${remedy}`)
    return found
  }
  return { app, logged, rows, doctor, commit: app.windfall.store.commit }
}

test('reports an I/O error with its count for seven days after writes work again', async () => {
  const { app, rows, doctor, commit } = await opened()
  const since = app.clock()
  await expect(commit(failing('SQLITE_IOERR_FSYNC'))).rejects.toMatchObject({ status: 503 })
  app.clock.turn(60_000)
  await expect(commit(failing('SQLITE_IOERR_WRITE'))).rejects.toMatchObject({ status: 503 })
  // The next committed batch stores the fault. A full disk and a caller's error are not disk faults.
  await commit(() => {})
  await expect(commit(failing('SQLITE_FULL'))).rejects.toMatchObject({ status: 503 })
  await commit(() => {})
  const expected = { id: 'disk:io_error', level: 'warning', since }
  expect(await rows()).toMatchObject([
    { ...expected, detail: expect.stringMatching(/ 2 times, last on .*SQLITE_IOERR_WRITE/) },
  ])
  expect(await doctor()).toContainEqual(
    expect.stringMatching(/^warning The disk reported an I\/O error 2 times.*windfall backup/),
  )
  expect((await app.request('/readyz')).status).toBe(200)
  app.clock.turn(7 * DAY - 1)
  expect(await rows()).toMatchObject([expected])
  app.clock.turn(1)
  expect(await rows()).toEqual([])
  // A fault after that is counted from one again.
  await expect(commit(failing('SQLITE_IOERR_READ'))).rejects.toMatchObject({ status: 503 })
  await commit(() => {})
  expect(await rows()).toMatchObject([
    { since: app.clock(), detail: expect.stringContaining(' once, last on ') },
  ])
})

test('reports an I/O error after a restart', async () => {
  const { store, put } = openTestStore()
  await expect(store.commit(failing('SQLITE_IOERR_WRITE'))).rejects.toMatchObject({ status: 503 })
  await store.commit(() => put('later'))
  await store.close()
  const db = new Database(store.file, { readonly: true })
  expect(db.prepare('select kind, code, times from disk_faults').all()).toEqual([
    { kind: 'io_error', code: 'SQLITE_IOERR_WRITE', times: 1 },
  ])
  db.close()
})

/** Overwrites the first page of an index with invalid bytes. */
function damage(file: string, index: string): void {
  const db = new Database(file)
  const page = Number(db.prepare('select rootpage from sqlite_schema where name = ?').pluck().get(index))
  const size = Number(db.pragma('page_size', { simple: true }))
  db.close()
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
  closeSync(descriptor)
}

test('reports a damaged database and how to restore it', async () => {
  const folder = temporaryFolder()
  const first = await openTestApp({ folder: folder.path })
  const identify = (app: typeof first) =>
    app.post('/api/sdk/v1/identify', { appUserId: 'ada', bundleId: BUNDLE })
  expect((await identify(first)).status).toBe(200)
  await first.close()
  damage(first.windfall.store.file, 'sqlite_autoindex_users_1')
  const { app, logged, rows, doctor, commit } = await opened(folder.path)
  expect(await identify(app)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
  app.windfall.log.flush()
  expect(logged.join('')).toContain(
    'the database is damaged: stop Windfall and restore a backup with windfall restore',
  )
  const expected = {
    id: 'database:damaged',
    level: 'error',
    detail: expect.stringContaining('windfall restore'),
  }
  // Writes to other pages succeed, and the finding remains.
  await commit(() => {})
  expect(await rows()).toMatchObject([expected])
  expect(await doctor()).toContainEqual(
    expect.stringMatching(/^error It is damaged \(SQLITE_CORRUPT.* once.*windfall restore/),
  )
})

test('doctor says how to restore an unreadable database', async () => {
  const { app, doctor } = await opened()
  await app.windfall.close()
  damage(app.windfall.store.file, 'apps')
  expect(await doctor()).toContainEqual(
    expect.stringMatching(/^error It is damaged \(SQLITE_CORRUPT.*windfall restore/),
  )
})
