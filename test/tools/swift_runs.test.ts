/** When continuous integration runs the tests of the Swift SDK, and what it means that it cannot. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isDue, isExcused } from '../../tools/swift/decision.ts'
import { sizesIn } from '../../tools/swift/sizes.ts'
import { hashOfCheckout, hashOfLanded } from '../../tools/swift/sources.ts'
import { temporaryFolder } from '../folders.ts'

test('a run is due unless these files passed on this machine', () => {
  expect(isDue({ now: 'a', green: 'a', landed: 'b' })).toBe(false)
  expect(isDue({ now: 'a', green: 'b', landed: 'a' })).toBe(true)
  expect(isDue({ now: 'a', green: null, landed: 'a' })).toBe(true)
})

test('without a compiler, files pass that passed before, and changed files do not', () => {
  expect(isExcused({ now: 'a', green: null, landed: 'a' })).toBe(true)
  expect(isExcused({ now: 'a', green: 'a', landed: 'b' })).toBe(true)
  expect(isExcused({ now: 'a', green: null, landed: 'b' })).toBe(false)
  expect(isExcused({ now: 'a', green: 'b', landed: null })).toBe(false)
  expect(isExcused({ now: 'a', green: null, landed: null })).toBe(true)
})

/** A repository with the files of the Swift SDK. */
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
  const first = hashOfCheckout(path)
  write('src/other.ts', 'two')
  expect(hashOfCheckout(path)).toBe(first)
  write('sdk/swift/Sources/new.swift', 'one')
  const second = hashOfCheckout(path)
  expect(second).not.toBe(first)
  commit()
  expect(hashOfCheckout(path)).toBe(second)
  rmSync(join(path, 'sdk/swift/Sources/new.swift'))
  expect(hashOfCheckout(path)).toBe(first)
})

test('what landed is where a branch left main, and the commit before on main itself', () => {
  const { path, git, write, commit } = openRepository()
  const first = hashOfCheckout(path)
  git('checkout', '-q', '-b', 'change')
  expect(hashOfLanded(path)).toBe(null)
  write('sdk/contract/wire.json', '{"a":1}')
  commit()
  expect(hashOfLanded(path)).toBe(first)
  const second = hashOfCheckout(path)
  expect(second).not.toBe(first)
  git('checkout', '-q', 'main')
  git('merge', '-q', '--no-ff', '-m', 'merge', 'change')
  expect(hashOfLanded(path)).toBe(first)
  commit()
  expect(hashOfLanded(path)).toBe(second)
})

test('outside a repository nothing is known to have landed', () => {
  const { path } = temporaryFolder()
  expect(hashOfLanded(path)).toBe(null)
  expect(() => hashOfCheckout(path)).toThrow('is not a Git repository')
})

test('the size of objects is their code and constants, with unwinding tables apart', () => {
  const printed = `A.swift.o  :
section            size   addr
.text               100      0
.rodata.cst16        16      0
swift5_typeref        4      0
.data.rel.ro         50      0
.bss                 60      0
.debug_str         7000      0
.eh_frame            30      0
Total              7260

B.swift.o  :
.text                10      0
.eh_frame             5      0
`
  expect(sizesIn(printed)).toEqual({ text: 130, unwinding: 35 })
})
