/** The command `windfall alerts` against a running Windfall. */
import { beforeEach, expect, test } from 'vitest'
import { openControl } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { type AlertingApp, openAlertingApp, purchase } from '../alerts/alerting.ts'
import { closedAtEnd } from '../closing.ts'
import { type Ended, folderOf, run } from '../processes.ts'

let app: AlertingApp
let alerts: (...args: string[]) => Promise<Ended>

beforeEach(async () => {
  app = await openAlertingApp()
  const { path } = app.config.store
  closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  alerts = (...args) => run(['alerts', ...args], { cwd })
})

test('test sends to each channel and prints the provider’s answer; log shows why a message was sent or not', async () => {
  expect(await alerts('log')).toMatchObject({ status: 0, stdout: 'No messages.\n' })
  expect(await alerts('test')).toMatchObject({ status: 0, stdout: 'phone  json  sent\n' })
  expect(app.got()).toMatchObject([{ title: '🔔 Windfall can reach you' }])
  app.receiver.behave(() => 404)
  const failed = await alerts('test', 'phone')
  expect(failed.status).toBe(1)
  expect(failed.stdout).toMatch(/^phone {2}json {2}failed {2}.*404/)
  expect((await alerts('test', 'fone')).stderr).toContain('there is no channel fone')

  app.receiver.behave(() => 200)
  expect((await alerts('test', 'phone')).status).toBe(0)
  await app.rule('sale', {}, { name: 'Every sale' })
  await purchase({ app })
  await app.settle(2_000)
  expect((await alerts('log')).stdout).toMatch(/Every sale {2}🔁 \$4\.99 · Renewal {2}phone {2}sent\n/)
  expect((await alerts('log', '--limit', '0')).stderr).toContain('--limit must be a number from 1 to 1000')
})

test('mute holds messages for a time and ends with off', async () => {
  await app.rule('sale')
  expect((await alerts('mute', '1h')).stdout).toBe('Alerts are muted until 1 Jun 2026, 13:00 (UTC).\n')
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toEqual([])
  const { stdout } = await alerts('log')
  expect(stdout).toMatch(/ {2}written when it is sent {2}phone {2}waiting {2}due at 2026-06-01 13:00Z\n/)
  expect(stdout).toMatch(/ {2}part of a summary +phone {2}joined {3}Alerts are muted\.\n/)
  expect((await alerts('mute', 'tomorrow')).stdout).toContain('2 Jun 2026, 08:00')
  expect((await alerts('mute', 'off')).stdout).toBe('Alerts are not muted.\n')
  await app.settle(2_000)
  expect(app.got()).toHaveLength(1)
  for (const words of ['0h', '31d', 'noon', '1'])
    expect(await alerts('mute', words)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('90m, 1h or 2d'),
    })
})
