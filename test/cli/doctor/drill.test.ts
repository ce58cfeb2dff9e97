/** A restore into another folder counts as a drill of the running instance. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openControl } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { closedAtEnd } from '../../closing.ts'
import { openChecked } from '../../doctor/checking.ts'
import { folderOf, run } from '../../processes.ts'

async function openServed() {
  const checked = await openChecked()
  const { app } = checked
  const { path } = app.config.store
  closedAtEnd(await openControl(path, verbsOf(app.windfall), app.windfall.log))
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  const backup = join(cwd, 'backup.tar')
  const restore = () => run(['restore', backup, '--into', join(cwd, 'drill')], { cwd })
  return { ...checked, cwd, backup, restore }
}

test('a restored backup of this instance is a drill with its age', async () => {
  const { check, app, cwd, backup, restore } = await openServed()
  expect(await check('drill')).toMatchObject([
    {
      status: 'warning',
      detail: expect.stringContaining('No backup was restored into another folder on this machine.'),
    },
  ])
  expect((await run(['backup', backup], { cwd })).status).toBe(0)
  expect((await restore()).stdout).toContain('Windfall records this restore as a drill')
  app.clock.turn(5 * 86_400_000)
  const detail = `${backup} was restored into another folder 5 days ago.`
  expect(await check('drill')).toMatchObject([{ status: 'ok', detail }])
  const backups = await check('backup')
  expect(backups).toMatchObject([{ status: 'ok', detail: expect.stringContaining(`${backup}, `) }])
})

test('a restored backup of another instance is no drill', async () => {
  const other = await openServed()
  expect((await run(['backup', other.backup], { cwd: other.cwd })).status).toBe(0)
  const { check, cwd } = await openServed()
  const { stdout } = await run(['restore', other.backup, '--into', join(cwd, 'drill')], { cwd })
  expect(stdout).toContain('To inspect it: ')
  expect(stdout).not.toContain('drill:')
  expect(await check('drill')).toMatchObject([{ status: 'warning' }])
})
