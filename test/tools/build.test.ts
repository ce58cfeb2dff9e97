/** `node build.mjs`, which runs before each script. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderOf } from '../processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('an installation is announced, before a command on standard error, and then it is silent', () => {
  const copy = folderOf()
  for (const name of ['build.mjs', 'tools', 'package.json', 'package-lock.json'])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  mkdirSync(join(copy, 'node_modules'))
  const npm_execpath = join(copy, 'npm.mjs')
  writeFileSync(npm_execpath, '')
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['build.mjs', '--install-only', ...args], {
      cwd: copy,
      env: { npm_execpath },
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const announcement = 'Installing what is missing (once; about a minute) …\n'
  expect(run('--quiet')).toEqual({ status: 0, stdout: '', stderr: announcement })
  expect(run('--quiet')).toEqual({ status: 0, stdout: '', stderr: '' })
  writeFileSync(join(copy, 'package-lock.json'), '{}')
  expect(run()).toEqual({ status: 0, stdout: announcement, stderr: '' })
})
