/** Where `windfall restore` puts the database of a backup from elsewhere. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf, run, startServing } from '../../processes.ts'

/** A backup whose configuration names an absolute path, at which nothing is any more. */
async function backupOfElsewhere() {
  const path = join(folderOf(), 'w.db')
  const config = `[store]\npath = "${path}"\n`
  const origin = folderOf({ 'config.toml': config })
  const serving = await startServing({ cwd: origin })
  const backup = join(origin, 'backup.tar')
  expect((await run(['backup', backup], { cwd: origin })).status).toBe(0)
  serving.kill('SIGTERM')
  await serving.ended
  for (const suffix of ['', '-wal', '-shm', '.lock', '.key']) rmSync(`${path}${suffix}`, { force: true })
  const hint = `With --original-paths, a restore puts the database where the backup had it: ${path}.\n`
  return { path, config, backup, hint }
}

test('a backup names no path outside of the folder, unless the command permits it', async () => {
  const { path, backup, hint } = await backupOfElsewhere()
  const cwd = folderOf()
  const restored = await run(['restore', backup], { cwd })
  expect([restored.status, restored.stderr]).toEqual([1, 'Verifying the backup …\n'])
  expect(restored.stdout).toContain(`Restored ${join(cwd, 'data/windfall.db')}:`)
  expect(restored.stdout).toContain(hint)
  expect(existsSync(path)).toBe(false)
  const inspected = await run(['restore', backup, '--into', folderOf(), '--original-paths'], { cwd })
  expect([inspected.status, existsSync(path)]).toEqual([0, false])
  expect(inspected.stdout).not.toContain('--original-paths')

  const other = folderOf()
  const there = await run(['restore', backup, '--original-paths'], { cwd: other })
  expect(there.stdout).toContain(`Restored ${path}:`)
  expect([there.status, existsSync(join(other, 'data/windfall.db'))]).toEqual([0, false])
})

test('the configuration that init wrote makes way for one that names an absolute path only if the command permits it', async () => {
  const { path, config, backup, hint } = await backupOfElsewhere()
  const cwd = folderOf()
  await run(['init'], { cwd })
  const kept = await run(['restore', backup], { cwd })
  expect([kept.status, existsSync(path)]).toEqual([1, false])
  expect(kept.stdout).toContain(hint)
  expect(kept.stdout).toContain(`set store.path = "${join(cwd, 'data/windfall.db')}" in it.\n`)

  const moved = await run(['restore', backup, '--original-paths'], { cwd })
  expect([moved.status, existsSync(path)]).toEqual([0, true])
  expect(readFileSync(join(cwd, 'config.toml'), 'utf8')).toBe(config)
})

test('a variable that names the path of the database goes before the backup', async () => {
  const { path, backup, hint } = await backupOfElsewhere()
  const cwd = folderOf()
  const env = { WINDFALL_STORE_PATH: join(cwd, 'own.db') }
  const restored = await run(['restore', backup, '--original-paths'], { cwd, env })
  expect(restored.stdout).toContain(`Restored ${join(cwd, 'own.db')}:`)
  expect(restored.stdout).not.toContain(hint)
  expect(existsSync(path)).toBe(false)
})
