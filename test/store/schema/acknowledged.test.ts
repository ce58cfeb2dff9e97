import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { isAcknowledged } from '../../../src/store/schema/acknowledged.ts'
import { openTestApp } from '../../helpers.ts'

function recordIn(file: string): boolean {
  const db = new Database(file, { readonly: true })
  try {
    return isAcknowledged(db)
  } finally {
    db.close()
  }
}

const IDENTIFY = { appUserId: 'user-1', bundleId: 'com.example.lantern' }

test('the first acknowledged write is recorded with it, and no other write', async () => {
  const app = await openTestApp()
  const { file } = app.windfall.store
  await app.windfall.jobs.runNow('housekeeping')
  await app.request('/readyz')
  await app.post('/api/sdk/v1/identify', {})
  expect(recordIn(file)).toBe(false)
  expect((await app.post('/api/sdk/v1/identify', IDENTIFY)).status).toBe(200)
  expect(recordIn(file)).toBe(true)
})

test('the record counts until the next migration', async () => {
  const app = await openTestApp()
  const { file } = app.windfall.store
  await app.post('/api/sdk/v1/identify', IDENTIFY)
  await app.windfall.close()
  const db = new Database(file)
  expect(isAcknowledged(db)).toBe(true)
  db.pragma(`user_version = ${Number(db.pragma('user_version', { simple: true })) + 1}`)
  expect(isAcknowledged(db)).toBe(false)
  db.close()
})
