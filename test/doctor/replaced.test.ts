import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { openChecked } from './checking.ts'

test('the check of the disk lists the databases that restores replaced', async () => {
  const { check, app } = await openChecked()
  const { path } = app.config.store
  expect((await check('disk'))[0]?.detail).not.toContain('replaced')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.replaced-2`, Buffer.alloc(1_500_000))
  expect((await check('disk'))[0]?.detail).toContain(
    `A database that a restore replaced uses 2 MB: ${path}.replaced-2. Delete it when you no longer need it.`,
  )
  writeFileSync(`${path}.replaced-1`, '')
  writeFileSync(`${path}.replaced-1-wal`, Buffer.alloc(1_000_000))
  expect((await check('disk'))[0]?.detail).toContain(
    `2 databases that restores replaced use 3 MB: ${path}.replaced-1, ${path}.replaced-2. Delete them`,
  )
})
