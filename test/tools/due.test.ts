/** When continuous integration runs the tests of an SDK, and what it means that it cannot. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isDue, isExcused } from '../../tools/due/decision.ts'
import { hashOfBase, hashOfCheckout, hashOfLanded } from '../../tools/due/sources.ts'
import { runSuite } from '../../tools/due/suite.ts'
import { temporaryFolder } from '../folders.ts'

test('a run is due unless these files passed on this machine, or are those of the main branch', () => {
  expect(isDue({ now: 'a', green: 'a', base: 'b' })).toBe(false)
  expect(isDue({ now: 'a', green: 'b', base: 'a' })).toBe(false)
  expect(isDue({ now: 'a', green: 'b', base: 'b' })).toBe(true)
  expect(isDue({ now: 'a', green: null, base: null })).toBe(true)
})

test('without what the tests need, files pass that passed before, and changed files do not', () => {
  expect(isExcused({ now: 'a', landed: 'a' })).toBe(true)
  expect(isExcused({ now: 'a', landed: 'b' })).toBe(false)
  expect(isExcused({ now: 'a', landed: null })).toBe(true)
})

test('a run that has no time is excused as one without a compiler is', async () => {
  const { path } = temporaryFolder()
  const unreached = () => {
    throw new Error('begun')
  }
  const suite = { name: 'sdk', folder: path, fault: unreached, test: unreached, isComplete: true }
  const unchanged = { ...suite, paths: ['no/such/folder'], dependencies: [] }
  const excuse = 'no time left'
  expect(await runSuite(unchanged, { due: true, excuse })).toBe(0)
  expect(await runSuite(unchanged, { excuse })).toBe(1)
})

test('what passed once on this machine is not run again until one of its files or dependencies changes', async () => {
  const { path: folder } = temporaryFolder()
  const tested: string[] = []
  const suiteOf = (dependency: string, isComplete = true) => ({
    name: 'sdk',
    folder: join(folder, 'new'),
    paths: ['sdk/contract'],
    dependencies: [dependency],
    fault: () => null,
    test: () => tested.push(dependency) > 0,
    isComplete,
  })
  await runSuite(suiteOf('sdk/js', false), {})
  await runSuite(suiteOf('sdk/js'), {})
  await runSuite(suiteOf('sdk/js'), { due: true })
  expect(tested).toEqual(['sdk/js', 'sdk/js'])
  await runSuite(suiteOf('sdk/js'), {})
  expect(tested).toHaveLength(3)
  expect(existsSync(join(folder, 'new/green'))).toBe(true)
})

const PATHS = ['Package.swift', 'sdk/swift', 'sdk/contract']

/** A repository with these files. */
function openRepository() {
  const { path } = temporaryFolder()
  const git = (...args: string[]) => {
    const { status, stderr } = spawnSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args],
      { cwd: path, encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(stderr)
  }
  const write = (name: string, text: string) => {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  const commit = () => {
    git('add', '--all')
    git('commit', '-q', '--allow-empty', '-m', 'change')
  }
  git('init', '-q', '-b', 'main')
  write('Package.swift', 'one')
  write('sdk/swift/Sources/ä.swift', 'one')
  write('sdk/contract/wire.json', '{}')
  write('src/other.ts', 'one')
  commit()
  return { path, git, write, commit }
}

test('the hash is of the files of the SDK and the contract, committed or not', () => {
  const { path, write, commit } = openRepository()
  const first = hashOfCheckout(path, PATHS)
  write('src/other.ts', 'two')
  expect(hashOfCheckout(path, PATHS)).toBe(first)
  write('sdk/swift/Sources/new.swift', 'one')
  const second = hashOfCheckout(path, PATHS)
  expect(second).not.toBe(first)
  commit()
  expect(hashOfCheckout(path, PATHS)).toBe(second)
  rmSync(join(path, 'sdk/swift/Sources/new.swift'))
  expect(hashOfCheckout(path, PATHS)).toBe(first)
})

test('what landed is where a branch left main, and the commit before on main itself', () => {
  const { path, git, write, commit } = openRepository()
  const first = hashOfCheckout(path, PATHS)
  git('checkout', '-q', '-b', 'change')
  expect(hashOfLanded(path, PATHS)).toBe(null)
  expect(hashOfBase(path, PATHS)).toBe(null)
  write('sdk/contract/wire.json', '{"a":1}')
  commit()
  expect(hashOfLanded(path, PATHS)).toBe(first)
  expect(hashOfBase(path, PATHS)).toBe(first)
  const second = hashOfCheckout(path, PATHS)
  expect(second).not.toBe(first)
  git('checkout', '-q', 'main')
  git('merge', '-q', '--no-ff', '-m', 'merge', 'change')
  expect(hashOfLanded(path, PATHS)).toBe(first)
  // A merge brings many commits at once: nothing says that the one before it has their files.
  expect(hashOfBase(path, PATHS)).toBe(null)
  commit()
  expect(hashOfLanded(path, PATHS)).toBe(second)
})

test('outside a repository nothing is known to have landed', () => {
  const { path } = temporaryFolder()
  expect(hashOfLanded(path, PATHS)).toBe(null)
  expect(hashOfBase(path, PATHS)).toBe(null)
  expect(() => hashOfCheckout(path, PATHS)).toThrow('is not a Git repository')
})
