import { expect, test } from 'vitest'
import { openControl } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'
import { folderOf, run } from '../processes.ts'

const DAY = 86_400_000

test('windfall users prune counts and deletes users, with and without a server', async () => {
  // The command without a server has the clock of this machine.
  const app = await openTestApp({ folder: folderOf() })
  const { path } = app.config.store
  const control = closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  const prune = (...args: string[]) => run(['users', 'prune', ...args], { cwd })
  const identify = (appUserId: string) =>
    app.post('/api/sdk/v1/identify', { appUserId, bundleId: 'com.example.lantern' })
  const users = () => app.windfall.store.prepare('select app_user_id from users').pluck().all()

  await identify('ann')
  app.clock.turn(10 * DAY + 1)
  await identify('bob')
  expect(await prune('--unseen-for', '10', '--dry-run')).toMatchObject({
    status: 0,
    stdout: '1 user unseen for 10 days would be pruned.\n',
    stderr: 'Run without --dry-run to delete them.\n',
  })
  expect(users()).toEqual(['ann', 'bob'])
  expect(await prune('--unseen-for', '10')).toMatchObject({
    status: 0,
    stdout: '1 user unseen for 10 days was pruned.\n',
  })
  expect(users()).toEqual(['bob'])
  expect(app.windfall.audit.list(null, 1)).toMatchObject([
    { actor: 'command line', action: 'users.pruned', detail: 'unseen for 10 days' },
  ])
  for (const days of ['0', '-1', 'many', '36501', '1.5']) {
    const refused = await prune(`--unseen-for=${days}`)
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(refused.stderr).toContain('--unseen-for must be 1 to 36500 days')
  }
  expect(await prune()).toMatchObject({ status: 2, stdout: '' })
  expect(await prune('--dry-run', '--unseen', '3')).toMatchObject({ status: 2 })

  await control.close()
  await app.close()
  const alone = await prune('--unseen-for', '10')
  expect(alone).toMatchObject({ status: 0, stdout: expect.stringContaining('unseen for 10 days') })
})
