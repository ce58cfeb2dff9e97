import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { lockForServing } from '../../../src/store/disk/lock.ts'
import { realPathOf } from '../../../src/store/disk/paths.ts'
import { temporaryFolder } from '../../folders.ts'

function folderHere(): string {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  return realpathSync(folder.path)
}

const held = { status: 409, code: 'already_serving' }

test('refuses a second process with the pid of the first', () => {
  const file = `${folderHere()}/windfall.db`
  const lock = lockForServing(file)
  expect(() => lockForServing(file)).toThrow(`being served by process ${process.pid}`)
  lock.release()
  lockForServing(file).release()
})

test('a file has one lock through every symbolic link, before and after it exists', () => {
  const folder = folderHere()
  const file = `${folder}/real/windfall.db`
  mkdirSync(`${folder}/real`)
  symlinkSync('real', `${folder}/linked`)
  symlinkSync('real/windfall.db', `${folder}/other.db`)
  const ways = [file, `${folder}/linked/windfall.db`, `${folder}/other.db`, `${folder}/linked/../other.db`]
  for (const way of ways) expect(realPathOf(way)).toBe(file)
  const lock = lockForServing(`${folder}/other.db`)
  for (const way of ways) expect(() => lockForServing(way)).toThrow(expect.objectContaining(held))
  lock.release()
  expect(readdirSync(folder).sort()).toEqual(['linked', 'other.db', 'real'])
})

test('creates missing folders at the target of the path', () => {
  const folder = folderHere()
  mkdirSync(`${folder}/real`)
  symlinkSync('real', `${folder}/linked`)
  const lock = lockForServing(`${folder}/linked/a/b/windfall.db`)
  expect(existsSync(`${folder}/real/a/b/windfall.db.lock`)).toBe(true)
  expect(() => lockForServing(`${folder}/real/a/b/windfall.db`)).toThrow(expect.objectContaining(held))
  lock.release()
})

test('refuses a path that does not resolve', () => {
  const folder = folderHere()
  symlinkSync('round.db', `${folder}/round.db`)
  const refused = { status: 400, code: 'not_writable' }
  expect(() => lockForServing(`${folder}/round.db`)).toThrow(expect.objectContaining(refused))
})

test('refuses a file with a hard link, by either name', () => {
  const { path } = temporaryFolder()
  writeFileSync(`${path}/windfall.db`, '')
  linkSync(`${path}/windfall.db`, `${path}/other.db`)
  for (const name of ['windfall.db', 'other.db'])
    expect(() => lockForServing(`${path}/${name}`)).toThrow('has 2 names (hard links)')
})
