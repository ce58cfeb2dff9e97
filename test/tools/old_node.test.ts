/** Commands on a system with an older Node: they use the one that npm installed, or report what is missing. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folderOf } from '../processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const versionOf = (node: string): string => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
/** The folder of a Node that is too old, where this machine has one. */
const folder = ['/usr/local/bin', '/usr/bin'].find(
  (path) =>
    existsSync(join(path, 'node')) && Number.parseInt(versionOf(join(path, 'node')).slice(1), 10) < 24,
)
const old = join(folder ?? '', 'node')
const withOldNode = test.skipIf(folder === undefined)

function run(command: string, args: readonly string[], cwd = root) {
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folderOf() }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

withOldNode('the program names the Node that it needs', () => {
  const { status, stdout, stderr } = run(old, ['dist/windfall.mjs', '--version'])
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toBe(
    `Windfall needs Node 24; this is ${versionOf(old)}. Run npm start or npm run windfall, which use the right version.\n`,
  )
})

withOldNode('vitest that is run by hand names the Node that the tests need', () => {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/vitest.config.ts',
    'test/days.test.ts',
  ]
  const { status, stdout, stderr } = run(old, args)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toBe(
    `The tests need Node 24; this is ${versionOf(old)}. Run npm test, which uses the Node of node_modules.\n`,
  )
})

withOldNode('the scripts run by the Node that npm installed', () => {
  expect(run('npm', ['exec', '--', 'node', '--version']).stdout).toBe(`${process.version}\n`)
  const bench = run('npm', ['run', '-s', 'bench', '--', 'nothing'])
  expect(bench.stderr).toContain('unknown section nothing; the sections are identify')
  const dev = run('npm', ['run', '-s', 'dev', '--', '--nothing'])
  expect(dev.stderr).toContain("Unknown option '--nothing'")
})

withOldNode(
  'without the Node that npm should have installed, the script before each script says how to get it',
  () => {
    const copy = folderOf()
    for (const name of ['build.mjs', 'tools', 'package.json', 'package-lock.json'])
      cpSync(join(root, name), join(copy, name), { recursive: true })
    // As npm leaves it where install scripts are switched off.
    mkdirSync(join(copy, 'node_modules/node'), { recursive: true })
    cpSync(join(root, 'node_modules/.windfall'), join(copy, 'node_modules/.windfall'))
    const { status, stdout, stderr } = run(old, ['build.mjs'], copy)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^Windfall needs Node 24, this is v\d+\.\d+\.\d+, .+npm rebuild node .+\n$/)
    expect(readdirSync(copy)).not.toContain('dist')
  },
)

test('every script that runs TypeScript or the program has build.mjs before it', async () => {
  const { default: written } = await import('../../package.json', { with: { type: 'json' } })
  const scripts: Record<string, string> = written.scripts
  const needing = Object.keys(scripts).filter((name) =>
    /^(?:node|WINDFALL_SUITE|vitest)/.test(scripts[name] ?? ''),
  )
  const own = needing.filter(
    (name) => !name.startsWith('pre') && !/^node (?:build|\.ci\/clone)\.mjs/.test(scripts[name] ?? ''),
  )
  expect(own.length).toBeGreaterThan(8)
  expect(own.filter((name) => !scripts[`pre${name}`]?.startsWith('node build.mjs'))).toEqual([])
})
