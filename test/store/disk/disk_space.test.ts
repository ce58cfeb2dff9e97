import { existsSync, statSync, symlinkSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openDiskSpace } from '../../../src/store/disk/disk_space.ts'
import { temporaryFolder } from '../../folders.ts'

const MEGABYTE = 1_048_576

/** A disk whose free space the test sets. */
function openTestDisk(free_mb: number) {
  const file = `${temporaryFolder().path}/windfall.db`
  const warnings: string[] = []
  let free = free_mb
  const room = openDiskSpace(file, {
    warn: (message) => void warnings.push(message),
    freeBytes: () => free * MEGABYTE,
  })
  onTestFinished(() => room.close())
  const ballast = () => statSync(`${file}.ballast`, { throwIfNoEntry: false })?.size ?? 0
  const setFree = (megabytes: number): void => {
    free = megabytes
  }
  return { file, room, warnings, ballast, setFree }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn()
}

test('keeps ballast if there is space, and refuses ingest below the floor', async () => {
  const { room, warnings, ballast, setFree } = openTestDisk(1_000)
  room.check()
  await until(() => ballast() === 16 * MEGABYTE)
  setFree(16)
  room.check()
  expect(() => room.assertFreeSpace()).not.toThrow()
  setFree(15)
  room.check()
  expect(() => room.assertFreeSpace()).toThrow('the disk is nearly full')
  expect(ballast()).toBe(16 * MEGABYTE)
  setFree(16)
  room.check()
  expect(() => room.assertFreeSpace()).not.toThrow()
  expect(warnings).toHaveLength(2)
})

test('deleted ballast frees space, but ingest waits until there is space for both', async () => {
  const { room, ballast, setFree } = openTestDisk(1_000)
  room.check()
  await until(() => ballast() > 0)
  room.deleteBallast()
  expect(ballast()).toBe(0)
  setFree(17)
  room.check()
  expect(() => room.assertFreeSpace()).toThrow('the disk is nearly full')
  setFree(32)
  room.check()
  expect(() => room.assertFreeSpace()).not.toThrow()
  await until(() => ballast() === 16 * MEGABYTE)
})

test('writes no ballast and refuses ingest if there is never enough space', () => {
  const { room, ballast } = openTestDisk(20)
  room.check()
  expect(() => room.assertFreeSpace()).toThrow('the disk is nearly full')
  expect(ballast()).toBe(0)
})

test('removes incomplete ballast on close', async () => {
  const { file, room, ballast } = openTestDisk(1_000)
  room.check()
  await room.close()
  expect([0, 16 * MEGABYTE]).toContain(ballast())
  expect(existsSync(`${file}.ballast.partial`)).toBe(false)
})

test('warns about ballast that cannot be deleted, and still answers callers', () => {
  const { file, room, warnings } = openTestDisk(1_000)
  symlinkSync('windfall.db.ballast', `${file}.ballast`)
  expect(() => room.deleteBallast()).not.toThrow()
  expect(warnings).toEqual(['the ballast file could not be deleted'])
})
