import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { expectErrors } from '../guards/error_lines.ts'
import { openTestApp, type TestApp } from '../helpers.ts'

const DAY = 86_400_000

const finding = async (app: TestApp) => {
  const answer = await app.request('/api/v1/status', { headers: await app.signIn() })
  const { rows } = (await answer.json()) as { rows: { id: string; detail: string }[] }
  return rows.find(({ id }) => id === 'backup')?.detail ?? null
}

test('makes backups in the folder, deletes old ones, and reports a week without a backup', async () => {
  const env = {
    WINDFALL_BACKUP_SCHEDULE: '30 3 * * *',
    WINDFALL_BACKUP_DAILY: '2',
    WINDFALL_BACKUP_WEEKLY: '0',
    WINDFALL_BACKUP_MONTHLY: '0',
  }
  const app = await openTestApp({ env })
  const folder = join(app.folder, 'backups')
  expect(await finding(app)).toContain('no backup has been verified yet')
  for (let night = 0; night < 4; night += 1) {
    const { outcome, error } = await app.windfall.jobs.runNow('backup')
    expect(error).toBeNull()
    expect(outcome).toContain('verified')
    app.clock.turn(DAY)
  }
  expect(readdirSync(folder)).toHaveLength(2)
  expect(await finding(app)).toBeNull()
  app.clock.turn(7 * DAY)
  expect(await finding(app)).toMatch(/was verified 8 days ago.*windfall jobs run backup/)
})

test('reports why a backup cannot be written, and leaves no file', async () => {
  expectErrors('a job failed')
  const app = await openTestApp({ env: { WINDFALL_BACKUP_FOLDER: 'config-in-the-way/backups' } })
  writeFileSync(join(app.folder, 'config-in-the-way'), '')
  expect((await app.windfall.jobs.runNow('backup')).error).toMatch(/ENOTDIR|EEXIST/)
})

test('removes an incomplete backup at the next start after a crash', async () => {
  const { path: folder } = temporaryFolder()
  const destination = join(folder, 'nightly.tar')
  const app = await openTestApp({ folder })
  const { store } = app.windfall
  const insert = store.prepare<[string]>("insert into settings (key, value) values ('unfinished_backups', ?)")
  await store.commit(() => void insert.run(JSON.stringify([destination])))
  await app.close()
  const left = ['.windfall-partial', '.windfall-database', '.windfall-database.partial'].map(
    (end) => `${destination}${end}`,
  )
  for (const file of left) writeFileSync(file, 'half')
  await (await openTestApp({ folder, apps: [] })).close()
  expect(left.filter((file) => existsSync(file))).toEqual([])
})

test('closes during a backup without leaving a file', async () => {
  const app = await openTestApp()
  const made = app.windfall.backups.backup(join(app.folder, 'cut.tar'), null).catch((error) => error)
  await new Promise((resolve) => setImmediate(resolve))
  await app.windfall.close()
  expect(await made).toMatchObject({ code: 'store_closing' })
  expect(readdirSync(app.folder)).toEqual(['data'])
})
