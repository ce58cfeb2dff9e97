import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { folderOf } from '../processes.ts'

const module = new URL('memory_folder.ts', import.meta.url).href
const script = `import { existsSync } from 'node:fs'
const { useMemoryFolder } = await import(${JSON.stringify(module)})
useMemoryFolder()
const { pid, env: { TMPDIR: folder } } = process
console.log(JSON.stringify({ pid, folder, isThere: existsSync(folder ?? '') }))`

/** What a process has for a folder while it runs. */
function folderIn(env: { TMPDIR?: string }): { pid: number; folder?: string; isThere: boolean } {
  const { TMPDIR: _, ...others } = process.env
  const options = { env: { ...others, ...env }, encoding: 'utf8' } as const
  return JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-e', script], options).stdout)
}

test('a folder in memory is gone after its process, and so is that of a process that was killed', (context) => {
  // No process has this id: it is above the highest that Linux gives.
  const left = '/dev/shm/windfall-4194305'
  if (existsSync('/dev/shm')) mkdirSync(left, { recursive: true })
  onTestFinished(() => rmSync(left, { recursive: true, force: true }))
  const { pid, folder, isThere } = folderIn({})
  if (folder === undefined) return context.skip('There is no shared memory with room for the tests.')
  expect({ folder, isThere }).toEqual({ folder: `/dev/shm/windfall-${pid}`, isThere: true })
  expect([existsSync(folder), existsSync(left)]).toEqual([false, false])
})

test('a folder that is set is kept', () => {
  const TMPDIR = folderOf()
  expect(folderIn({ TMPDIR })).toMatchObject({ folder: TMPDIR, isThere: true })
  expect(existsSync(TMPDIR)).toBe(true)
})
