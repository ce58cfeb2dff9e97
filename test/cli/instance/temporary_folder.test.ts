import { existsSync, mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inTemporaryFolder } from '../../../src/cli/instance/temporary_folder.ts'
import { temporaryFolder } from '../../folders.ts'

test('deletes what a killed process left, also one with the number of this process', async () => {
  const { path: above } = temporaryFolder()
  const [old, fresh] = ['a', 'b'].map((end) => join(above, `windfall-temporary-${process.pid}-${end}`)) as [
    string,
    string,
  ]
  for (const folder of [old, fresh]) mkdirSync(folder)
  utimesSync(old, 1, 1)
  const seen = await inTemporaryFolder(above, async (folder) => [folder, old, fresh].map(existsSync))
  expect(seen).toEqual([true, false, true])
})
