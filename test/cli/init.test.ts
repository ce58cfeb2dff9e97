import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commentedConfig } from '../../src/config/documents.ts'
import { openFolder } from '../config/folder.ts'
import { windfall } from './command.ts'

const init = (cwd: string, ...args: string[]) => windfall(['init', ...args], { cwd })

test('writes a valid config.toml that only its owner can read', () => {
  const folder = openFolder()
  const file = join(folder.path, 'config.toml')
  expect(init(folder.path)).toEqual({
    status: 0,
    stdout: `Wrote ${file}. To validate it after a change: npm run -s windfall -- check\n`,
    stderr: '',
  })
  expect(readFileSync(file, 'utf8')).toBe(commentedConfig())
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(folder.load().file).toBe(file)
})

test('declares an app in the file, and writes it to another path', () => {
  const folder = openFolder()
  expect(init(folder.path, '--path', 'my.toml', '--bundle', 'com.acme.notes').status).toBe(0)
  expect(folder.load({}, 'my.toml').config.apps).toMatchObject([{ bundle_id: 'com.acme.notes' }])
})

test('overwrites a file only with --force, and then removes the access of others', () => {
  const folder = openFolder()
  const file = folder.write('config.toml', '# mine', 0o644)
  expect(init(folder.path)).toEqual({
    status: 1,
    stdout: '',
    stderr: `${file} already exists; use --force to overwrite it\n`,
  })
  expect(readFileSync(file, 'utf8')).toBe('# mine')
  expect(init(folder.path, '--force').status).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(commentedConfig())
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('refuses an invalid bundle id without writing a file', () => {
  const folder = openFolder()
  expect(init(folder.path, '--bundle', 'com acme')).toEqual({
    status: 2,
    stdout: '',
    stderr: 'com acme is not a bundle id; use the form com.example.app\n',
  })
  expect(folder.load().file).toBeNull()
})

test('reports why a file cannot be written', () => {
  const folder = openFolder()
  expect(init(folder.path, '--path', 'missing/config.toml').stderr).toBe(
    `${folder.path}/missing/config.toml cannot be written: its folder does not exist\n`,
  )
  expect(init(folder.path, '--path', '.', '--force').stderr).toBe(`${folder.path} is a folder\n`)
})
