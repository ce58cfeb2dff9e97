/** `npm run ci` in a small temporary repository. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { folderOf } from '../processes.ts'

const SCRIPT = fileURLToPath(new URL('../../.ci/clone.mjs', import.meta.url))

/** A repository whose continuous integration is `check`, a shell script. */
function openRepository(check: string) {
  const [root, temporary] = [folderOf(), folderOf()]
  const git = (...args: string[]): string => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    const { status, stdout, stderr } = spawnSync('git', [...identity, ...args], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    return stdout.trim()
  }
  mkdirSync(join(root, '.ci'))
  cpSync(SCRIPT, join(root, '.ci/clone.mjs'))
  writeFileSync(join(root, '.ci/run'), `#!/bin/sh\n${check}\n`)
  chmodSync(join(root, '.ci/run'), 0o755)
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'change')
  const env = {
    PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
    TMPDIR: temporary,
    npm_config_x: 'x',
  }
  const args = ['.ci/clone.mjs']
  return {
    root,
    git,
    begin: () => spawn(process.execPath, args, { cwd: root, env }),
    run: () => spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' }),
    clones: () => readdirSync(temporary),
  }
}

test('a clone of the commit runs, without what is not committed, and is removed', () => {
  const repository = openRepository('git rev-parse HEAD; git remote; ls; pwd')
  writeFileSync(join(repository.root, 'untracked'), '')
  const { status, stdout } = repository.run()
  const [notice, head, remote, pwd] = stdout.split('\n')
  expect([notice, head, remote]).toEqual([
    'Uncommitted changes are not tested.',
    repository.git('rev-parse', 'HEAD'),
    'origin',
  ])
  expect(pwd).toMatch(/\/windfall-ci-\w+$/)
  expect(stdout).toMatch(/\nPassed in 0 min \d+ s: [0-9a-f]{7,} change\n$/)
  expect(status).toBe(0)
  expect(repository.clones()).toEqual([])
})

test('the clone does not find programs of the checkout, nor settings of npm', () => {
  const { root, run } = openRepository('echo "PATH is $PATH"; env')
  const { stdout } = run()
  expect(stdout).toContain('PATH is ')
  expect(stdout).not.toContain(join(root, 'node_modules'))
  expect(stdout).not.toContain('npm_config_x')
})

test('a failure has its status, and keeps the clone', () => {
  const repository = openRepository('echo broken; exit 3')
  const { status, stdout } = repository.run()
  expect(stdout).toMatch(/^broken\nFailed with status 3 after 0 min \d+ s: [0-9a-f]{7,} change\n/)
  const [, kept = ''] = /The clone is kept: (.+)\n$/.exec(stdout) ?? []
  expect(existsSync(join(kept, '.ci/run'))).toBe(true)
  expect(status).toBe(3)
})

test('a signal ends the run and removes the clone', async () => {
  const { begin, clones } = openRepository('echo started; exec sleep 60')
  const child = begin()
  let stdout = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  await vi.waitFor(() => expect(stdout).toContain('started'), { timeout: 20_000 })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  expect(await ended).toBe(1)
  expect(stdout).toContain('Stopped after')
  expect(clones()).toEqual([])
})

test('outside of a repository, git says so', () => {
  const root = folderOf()
  mkdirSync(join(root, '.ci'))
  cpSync(SCRIPT, join(root, '.ci/clone.mjs'))
  const { status, stderr } = spawnSync(process.execPath, ['.ci/clone.mjs'], { cwd: root, encoding: 'utf8' })
  expect(stderr).toContain('git rev-parse HEAD failed: fatal: not a git repository')
  expect(status).toBe(1)
})
