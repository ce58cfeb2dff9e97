import { beforeEach, expect, test } from 'vitest'
import { openControl } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { folderOf, run } from '../processes.ts'
import { openOtherReader } from '../store/other_reader.ts'

const BUNDLE = 'com.example.lantern'
let app: TestApp
let forget: (...args: string[]) => ReturnType<typeof run>
beforeEach(async () => {
  app = await openTestApp()
  const { path } = app.config.store
  closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  forget = (...args) => run(['forget', ...args], { cwd })
})

const identify = (appUserId: string) => app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE })

test('windfall forget erases a user, lists the erasure, and lifts the tombstone', async () => {
  expect(await forget('--list')).toMatchObject({ status: 0, stdout: 'No erasures.\n' })
  await identify('user-1')
  const done = await forget('--app', BUNDLE, 'user-1')
  expect(done).toMatchObject({ status: 0 })
  expect(done.stdout).toMatch(/^Erased on 2026-06-01 12:00Z from 0 links and 1 event. Erasure id: era_\w+\n$/)
  expect(done.stderr).toContain('Earlier backups and replicas still contain the user')
  expect((await identify('user-1')).status).toBe(410)

  const listed = await forget('--list')
  const [head, row] = listed.stdout.trimEnd().split('\n')
  expect(head).toMatch(/^id +app +requested +by +done +links +events$/)
  expect(row).toMatch(
    /^era_\w+ +com\.example\.lantern +2026-06-01 12:00Z +command line +2026-06-01 12:00Z +0 +1$/,
  )
  const undone = await forget('--undo-tombstone', '--app', BUNDLE, 'user-1')
  expect(undone).toMatchObject({ status: 0 })
  expect(undone.stdout).toMatch(/^Calls for this user id are accepted again/)
  expect((await identify('user-1')).status).toBe(200)
  const compact = await forget('--compact', '--app', BUNDLE, 'user-1')
  expect(compact.stdout).toMatch(/Erasure id: era_\w+\nThe database file was rewritten: [\d,]+ bytes\.\n$/)
  expect((await forget('--compact')).stdout).toMatch(/^The database file was rewritten/)
})

test('says that data of the user is pending in the log while another program reads the database', async () => {
  await identify('user-1')
  const other = openOtherReader(app.config.store.path)
  const pending = await forget('--app', BUNDLE, '--compact', 'user-1')
  expect(pending).toMatchObject({ status: 0 })
  expect(pending.stdout).toMatch(
    /^Erased from 0 links and 1 event; pending in the log. Erasure id: era_\w+\nThe database file was rewritten: [\d,]+ bytes; pending in the log.\n$/,
  )
  expect(pending.stderr).toContain('Another program reads the database')
  expect((await forget('--list')).stdout).toMatch(/ +pending in the log +0 +1\n$/)
  other.end()
  app.windfall.erasures.resume()
  expect((await forget('--list')).stdout).toMatch(/ +2026-06-01 12:00Z +0 +1\n$/)
})

test('refuses invalid arguments without erasing anyone', async () => {
  await identify('user-1')
  const refused: [string[], number, string][] = [
    [[], 2, 'npm run -s windfall -- forget --app BUNDLE USER'],
    [['user-1'], 2, 'npm run -s windfall -- forget --app BUNDLE USER'],
    [['--app', BUNDLE], 2, 'npm run -s windfall -- forget --app BUNDLE USER'],
    [
      ['--app', 'com.nobody', 'user-1'],
      1,
      'default has no app com.nobody; npm run -s windfall -- apps list shows them',
    ],
    [['--app', BUNDLE, 'nobody-known'], 1, 'this app has no data about this user'],
    [['--app', BUNDLE, 'null'], 2, 'is a placeholder'],
    [['--undo-tombstone', '--app', BUNDLE, 'user-1'], 1, 'this user is not erased'],
  ]
  for (const [args, code, words] of refused) {
    const { status, stdout, stderr } = await forget(...args)
    expect({ args, status, stdout }).toEqual({ args, status: code, stdout: '' })
    expect(stderr).toContain(words)
  }
  expect((await identify('user-1')).status).toBe(200)
  expect(await forget('--app', BUNDLE, '--unknown', 'nobody-known')).toMatchObject({ status: 0 })
  expect((await identify('nobody-known')).status).toBe(410)
})
