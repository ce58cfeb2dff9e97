/** `npm run release` in a small temporary repository. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from './folders.ts'

const SCHEMA = 'pragma user_version = 7;\ncreate table notes (id integer primary key);\n'
const FIXTURE = 'test/store/schema/fixtures/1.2.0.sql'
const FILES: Record<string, string> = {
  'package.json': '{ "version": "1.2.0", "scripts": { "build:binary": "echo built > binary.log" } }\n',
  'CHANGELOG.md':
    '# Changelog\n\n## Unreleased\n\n- Later.\n\n## 1.2.0 - 2026-11-22\n\n### New\n\n- A feed.\n\n## 1.1.0\n\n- Older.\n',
  'schema.sql': SCHEMA,
  'docs/releases.md': '# Releases\n\n| version | commit | schema | date |\n|---|---|---|---|\n',
  [FIXTURE]: `${SCHEMA}insert into notes values (1);\n`,
  'build.mjs': "import { writeFileSync } from 'node:fs'\nwriteFileSync('built.log', 'built')\n",
  '.gitignore': '*.log\ndist/\n',
}
const RECORDED = '# Releases\n\n| 1.2.0 | abc | 7 | 2026-11-22 |\n'
const CHECK = 'echo checked > check.log'

let root: string
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
  const { status, stdout, stderr } = spawnSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return stdout.trim()
}

function commit(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) write(path, text)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Change')
}

function release(args: readonly string[] = [], check = CHECK) {
  const env = {
    PATH: process.env.PATH,
    npm_config_userconfig: '/dev/null',
    WINDFALL_RELEASE_CHECK: check,
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'Test'],
        [`GIT_${role}_EMAIL`, 'test@example.com'],
      ]),
    ),
  }
  return spawnSync(process.execPath, ['.ci/release.mjs', ...args], { cwd: root, encoding: 'utf8', env })
}

const hasRun = (name: string): boolean => existsSync(join(root, `${name}.log`))

beforeEach(() => {
  root = temporaryFolder().path
  git('init', '--quiet', '--initial-branch', 'main')
  mkdirSync(join(root, '.ci'))
  cpSync(fileURLToPath(new URL('../.ci/release.mjs', import.meta.url)), join(root, '.ci/release.mjs'))
  commit(FILES)
})

test('checks, builds, writes the notes, makes the annotated tag and records the release', () => {
  const released = git('rev-parse', 'HEAD')
  const { status, stdout, stderr } = release()
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('Publish it: git push origin main v1.2.0')
  expect([hasRun('check'), hasRun('built'), hasRun('binary')]).toEqual([true, true, true])
  const notes = 'Windfall 1.2.0\n\n### New\n\n- A feed.'
  expect(readFileSync(join(root, 'dist/v1.2.0.md'), 'utf8')).toBe(`${notes}\n`)
  expect(git('cat-file', '-t', 'v1.2.0')).toBe('tag')
  expect(git('tag', '--list', 'v1.2.0', '--format', '%(contents)')).toBe(notes)
  expect(git('rev-parse', 'v1.2.0^{}')).toBe(released)
  expect(git('diff', '--name-only', released, 'HEAD')).toBe('docs/releases.md')
  const today = new Date().toISOString().slice(0, 10)
  expect(git('show', 'HEAD:docs/releases.md')).toContain(`\n| 1.2.0 | ${released} | 7 | ${today} |`)
  expect(git('status', '--porcelain')).toBe('')
})

test('a dry run prints what a release would do, and does nothing', () => {
  const { status, stdout } = release(['--dry-run'])
  expect(status).toBe(0)
  expect(stdout).toContain(`Would run ${CHECK}.`)
  expect(stdout).toContain('make the annotated tag v1.2.0')
  expect(stdout).toContain('- A feed.')
  expect([hasRun('check'), hasRun('built'), git('tag')]).toEqual([false, false, ''])
})

test('--checked skips the check', () => {
  expect(release(['--checked']).status).toBe(0)
  expect([hasRun('check'), git('tag')]).toEqual([false, 'v1.2.0'])
})

test.each([
  ['a dirty tree', () => write('new.ts', ''), 'uncommitted changes:\n?? new.ts'],
  [
    'another branch',
    () => git('switch', '--quiet', '--create', 'topic'),
    'made on main; the current branch is topic.',
  ],
  ['an existing tag', () => git('tag', 'v1.2.0'), 'The tag v1.2.0 exists.'],
  [
    'a recorded version',
    () => commit({ 'docs/releases.md': RECORDED }),
    'docs/releases.md has the version 1.2.0.',
  ],
  [
    'a changelog without the section',
    () =>
      commit({ 'CHANGELOG.md': '# Changelog\n\n## 1.2\n\n- A feed.\n\n## 1.2.0\n\n## 1.1.0\n\n- Older.\n' }),
    'CHANGELOG.md has no section "## 1.2.0".',
  ],
  [
    'no database of the version',
    () => commit({ 'package.json': '{ "version": "1.1.0" }' }),
    'test/store/schema/fixtures/1.1.0.sql is missing.',
  ],
  [
    'a database of another schema',
    () => commit({ 'schema.sql': 'create table notes (id text);\n' }),
    `${FIXTURE} differs from schema.sql.`,
  ],
])('refuses %s before it checks', (_, change, words) => {
  change()
  const tags = git('tag')
  for (const args of [[], ['--dry-run']]) {
    const { status, stderr } = release(args)
    expect(status).toBe(1)
    expect(stderr).toContain(words)
  }
  expect([hasRun('check'), git('tag')]).toEqual([false, tags])
})

test('creates no tag if the check fails or leaves changes', () => {
  expect(release([], 'exit 3')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('failed: status 3'),
  })
  expect(release([], 'touch left.ts')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('The checks changed the working tree:'),
  })
  expect(git('tag')).toBe('')
})

test('refuses an unknown option', () => {
  expect(release(['--push'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Usage: npm run release'),
  })
})

test.each([
  ['a tagged version', () => git('tag', 'v1.2.0')],
  ['a recorded version', () => commit({ 'docs/releases.md': RECORDED })],
])('refuses the fixture of %s', (_, markReleased) => {
  markReleased()
  expect(release(['--fixture'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('must not change'),
  })
})

test('the version in package.json is not one that is released with other files', () => {
  const project = fileURLToPath(new URL('..', import.meta.url))
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  const releases = readFileSync(join(project, 'docs/releases.md'), 'utf8').split('\n')
  const commit = releases.find((row) => row.startsWith(`| ${version} |`))?.split(' | ')[1]
  if (commit === undefined) return
  const { status, stdout } = spawnSync('git', ['diff', '--name-only', commit, 'HEAD'], {
    cwd: project,
    encoding: 'utf8',
  })
  // A shallow clone does not have the commit.
  if (status === 0) expect(stdout.trim(), 'raise the version').toMatch(/^(docs\/releases\.md)?$/)
})
