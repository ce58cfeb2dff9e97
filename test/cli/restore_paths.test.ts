/** Where `windfall restore` puts the database of a backup from elsewhere. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf, run, startServing } from '../processes.ts'

test('a backup names no path outside of the folder, unless the command permits it', async () => {
  const elsewhere = folderOf()
  const path = join(elsewhere, 'w.db')
  const origin = folderOf({ 'config.toml': `[store]\npath = "${path}"\n` })
  const serving = await startServing({ cwd: origin })
  const backup = join(origin, 'backup.tar')
  expect((await run(['backup', backup], { cwd: origin })).status).toBe(0)
  serving.kill('SIGTERM')
  await serving.ended
  for (const suffix of ['', '-wal', '-shm', '.lock', '.key']) rmSync(`${path}${suffix}`, { force: true })

  const cwd = folderOf()
  const restored = await run(['restore', backup], { cwd })
  expect([restored.status, restored.stderr]).toEqual([0, 'Verifying the backup …\n'])
  expect(restored.stdout).toContain(`Restored ${join(cwd, 'data/windfall.db')}:`)
  expect(restored.stdout).toContain('With --original-paths, a restore puts it there itself.')
  expect(existsSync(path)).toBe(false)

  const other = folderOf()
  const there = await run(['restore', backup, '--original-paths'], { cwd: other })
  expect(there.stdout).toContain(`Restored ${path}:`)
  expect([there.status, existsSync(join(other, 'data/windfall.db'))]).toEqual([0, false])
})
