import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openBackupLog } from '../../src/store/backup/log.ts'
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

test('makes two backups within a second', async () => {
  const app = await openTestApp({ env: { WINDFALL_BACKUP_DAILY: '2', WINDFALL_BACKUP_WEEKLY: '2' } })
  const outcomes = [await app.windfall.jobs.runNow('backup'), await app.windfall.jobs.runNow('backup')]
  expect(outcomes.map(({ error }) => error)).toEqual([null, null])
  expect(new Set(outcomes.map(({ outcome }) => outcome?.split(',')[0])).size).toBe(2)
})

/** A Windfall whose scheduled backups are encrypted and copied by a shell script. */
async function openCopying(script: string, settings: Record<string, string> = {}) {
  const { path: elsewhere } = temporaryFolder()
  const recipient = await identityToRecipient(await generateIdentity())
  const command = JSON.stringify(['/bin/sh', '-c', script, 'copy', '{file}', elsewhere])
  // `$&` stands for something in the replacement of a text.
  const folder = 'backups $&'
  const env = {
    ...settings,
    WINDFALL_BACKUP_COMMAND: command,
    WINDFALL_BACKUP_RECIPIENTS: recipient,
    WINDFALL_BACKUP_FOLDER: folder,
  }
  const app = await openTestApp({ env })
  return { app, elsewhere, folder: join(app.folder, folder) }
}

test('copies each scheduled backup to another machine, without the variables of Windfall', async () => {
  const { app, elsewhere, folder } = await openCopying('env > "$2/env"; cp "$1" "$2"')
  process.env.WINDFALL_SECRET = 'hunter2'
  onTestFinished(() => void delete process.env.WINDFALL_SECRET)
  const { outcome, error } = await app.windfall.jobs.runNow('backup')
  expect([error, outcome]).toEqual([null, expect.stringMatching(/verified; .*; copied by \/bin\/sh$/)])
  const [name = ''] = readdirSync(folder)
  expect(readFileSync(join(elsewhere, name)).equals(readFileSync(join(folder, name)))).toBe(true)
  expect(readFileSync(join(elsewhere, 'env'), 'utf8')).not.toContain('hunter2')
  expect(openBackupLog(app.windfall.store).lastCopied()).toEqual({
    at: app.clock(),
    file: join(folder, name),
  })
})

test('says why a backup was not copied, and keeps it', async () => {
  expectErrors('a job failed')
  const { app, folder } = await openCopying('echo no route to offsite >&2; exit 3')
  const { error } = await app.windfall.jobs.runNow('backup')
  const [name = ''] = readdirSync(folder)
  expect(error).toBe(`${join(folder, name)} is verified, but /bin/sh did not copy it: no route to offsite`)
  expect(openBackupLog(app.windfall.store).lastCopied()).toBeNull()
})

test('deletes no backup before a newer one is on another machine', async () => {
  expectErrors('a job failed')
  const keep = { WINDFALL_BACKUP_DAILY: '1', WINDFALL_BACKUP_WEEKLY: '0', WINDFALL_BACKUP_MONTHLY: '0' }
  const { app, elsewhere, folder } = await openCopying('test -e "$2/up"', keep)
  for (let night = 0; night < 2; night += 1) {
    expect((await app.windfall.jobs.runNow('backup')).error).toContain('did not copy it')
    app.clock.turn(DAY)
  }
  expect(readdirSync(folder)).toHaveLength(2)
  writeFileSync(join(elsewhere, 'up'), '')
  expect((await app.windfall.jobs.runNow('backup')).outcome).toContain('2 expired backups deleted')
  expect(readdirSync(folder)).toHaveLength(1)
})

test('a program that prints megabytes copies the backup, or fails with what it printed last', async () => {
  expectErrors('a job failed')
  const noise = 'head -c 3000000 /dev/zero; head -c 3000000 /dev/zero | tr "\\0" "x" >&2'
  const { app } = await openCopying(`${noise}; exit 0`)
  expect((await app.windfall.jobs.runNow('backup')).error).toBeNull()
  const { app: failing } = await openCopying(`${noise}; echo " disk quota exceeded" >&2; exit 3`)
  expect((await failing.windfall.jobs.runNow('backup')).error).toMatch(
    /did not copy it: x+ disk quota exceeded$/,
  )
})

test('a program that is killed, or is not there, is named', async () => {
  expectErrors('a job failed')
  const { app } = await openCopying('kill -9 $$')
  expect((await app.windfall.jobs.runNow('backup')).error).toContain(
    'did not copy it: it was ended by SIGKILL',
  )
  const recipient = await identityToRecipient(await generateIdentity())
  const env = {
    WINDFALL_BACKUP_COMMAND: '["/no/such/program", "{file}"]',
    WINDFALL_BACKUP_RECIPIENTS: recipient,
  }
  const missing = await openTestApp({ env })
  expect((await missing.windfall.jobs.runNow('backup')).error).toContain('spawn /no/such/program ENOENT')
})

test.each([
  'echo $$ > "$2/pid"; exec sleep 1000',
  'trap "" TERM; sh -c \'echo $$ > "$0/pid"; sleep 1000\' "$2"; true',
  'sh -c \'trap "" TERM; echo $$ > "$0/pid"; sleep 1000; sleep 1000\' "$2" & wait',
])('ends the program that copies a backup when it closes: %s', async (script) => {
  const { app, elsewhere } = await openCopying(script)
  const running = app.windfall.jobs.runNow('backup').catch((error) => error)
  const pid = await vi.waitFor(() => pidIn(join(elsewhere, 'pid')), 20_000)
  await app.windfall.close()
  await running
  await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), 10_000)
})

test('does not wait for what left the group of the program and holds its stderr', async () => {
  const script = 'setsid sh -c \'echo $$ > "$0/pid"; exec sleep 100\' "$2" & exit 0'
  const { app, elsewhere, folder } = await openCopying(script)
  const running = app.windfall.jobs.runNow('backup')
  const pid = await vi.waitFor(() => pidIn(join(elsewhere, 'pid')), 20_000)
  onTestFinished(() => void process.kill(pid))
  expect((await running).error).toBeNull()
  const [name = ''] = readdirSync(folder)
  expect(openBackupLog(app.windfall.store).lastCopied()?.file).toBe(join(folder, name))
})

/** @throws Error while the file has no number */
function pidIn(file: string): number {
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  if (Number.isNaN(pid)) throw new Error('it has not begun')
  return pid
}

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
