/** `--json`, `health`, `config dump` and the completion of shells. */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { folderOf, run, type Serving, startServing } from '../processes.ts'

describe('with a server', () => {
  let server: Serving
  let cwd: string
  const windfall = (...args: string[]) => run(args, { cwd })
  const json = async (...args: string[]) => {
    const { stdout, stderr, status } = await windfall(...args, '--json')
    expect([stderr, status, stdout.trim().split('\n').length]).toEqual(['', 0, 1])
    return JSON.parse(stdout)
  }

  beforeAll(async () => {
    cwd = folderOf({ 'config.toml': '[metrics]\ntoken = "a-secret-token-of-the-metrics"\n' })
    server = await startServing({ cwd })
  })

  test('commands print the answer of the server', async () => {
    expect(await json('apps', 'add', 'com.example.app')).toMatchObject({
      app: { bundle_id: 'com.example.app' },
    })
    expect(await json('apps', 'list')).toMatchObject({
      organizations: [{ apps: [{ bundle_id: 'com.example.app' }] }],
    })
    expect(await json('jobs')).toMatchObject({
      jobs: expect.arrayContaining([expect.objectContaining({ job: 'backup' })]),
    })
    expect(await json('tokens', 'create', '--label', 'laptop')).toMatchObject({
      token: expect.stringMatching(/^wf_/),
    })
    expect(await json('verify')).toMatchObject({ difference: null, lineages: 0 })
    expect(await json('backup', join(cwd, 'a.tar'), '--plain')).toMatchObject({ bytes: expect.any(Number) })
    expect(await json('verify', join(cwd, 'a.tar'))).toMatchObject({ difference: null })
    expect(await json('check')).toEqual({ valid: true })
    expect(await json('restore', join(cwd, 'a.tar'), '--into', join(cwd, 'restored'))).toMatchObject({
      database: expect.stringContaining('restored'),
    })
  })

  test('errors are JSON on stderr, with the same exit code', async () => {
    const refused = await windfall('keys', 'revoke', 'key_0', '--json')
    expect([refused.status, refused.stdout]).toEqual([1, ''])
    expect(JSON.parse(refused.stderr)).toEqual({
      error: { code: 'unknown_key', message: expect.any(String) },
    })
    const wrong = await windfall('apps', 'list', '--json', '--wrong')
    expect([wrong.status, JSON.parse(wrong.stderr).error.code]).toEqual([2, 'wrong_usage'])
    writeFileSync(join(cwd, 'bad.toml'), 'base_url = 3\n')
    const invalid = await windfall('check', '--json', '--config', 'bad.toml')
    expect([invalid.status, JSON.parse(invalid.stderr).error]).toEqual([
      2,
      expect.objectContaining({ code: 'invalid_configuration', errors: [expect.any(Object)] }),
    ])
  })

  test('config dump shows each value with its source, and no secret', async () => {
    const { settings, file } = await json('config', 'dump')
    expect(file).toBe(join(cwd, 'config.toml'))
    const by = new Map(settings.map((one: { path: string }) => [one.path, one]))
    expect(by.get('metrics.token')).toMatchObject({ value: '(not shown)', location: 'config.toml:2' })
    expect(by.get('rates.fetch')).toMatchObject({ value: false, location: 'WINDFALL_RATES_FETCH' })
    expect(by.get('server.port')).toMatchObject({ value: 8787, source: 'default', location: null })
    const { stdout } = await windfall('config')
    expect(stdout).toMatch(/^server\.port +8787 +default$/m)
    expect(stdout).not.toContain('a-secret-token')
  })

  test('health asks the running server', async () => {
    expect(await windfall('health')).toMatchObject({ status: 0, stdout: `${server.url} is ready.\n` })
    expect(await json('health', '--url', server.url)).toMatchObject({ ready: true, problem: null })
    expect(await windfall('health', '--wait', 'long')).toMatchObject({ status: 1 })
  })
})

test('health waits until the server is ready, and says why it is not', async () => {
  const cwd = folderOf()
  const alone = await run(['health'], { cwd, env: { WINDFALL_SERVER_PORT: '1' } })
  expect([alone.status, alone.stdout]).toEqual([
    1,
    expect.stringContaining('is not ready: connect ECONNREFUSED'),
  ])
  const waiting = run(['health', '--wait', '60'], { cwd })
  await startServing({ cwd })
  expect(await waiting).toMatchObject({ status: 0 })
})

test('the help of a command shows options, examples and exit codes', async () => {
  const cwd = folderOf()
  const { stdout } = await run(['links', 'import', '--help'], { cwd })
  for (const part of [
    '--dry-run',
    '--json',
    'EXAMPLES',
    'windfall links import links.csv',
    'EXIT CODES',
    'A row was refused',
  ])
    expect(stdout).toContain(part)
  const list = await run(['--help'], { cwd })
  expect(list.stdout).toMatch(/^BACKUPS\n {2}backup +\S/m)
})

describe('completion', () => {
  /** What a shell offers for a command line; the last word is being typed. */
  async function offered(shell: 'bash' | 'zsh' | 'fish', line: string): Promise<string[]> {
    const cwd = folderOf()
    const { stdout: script } = await run(['completion', shell], { cwd })
    const file = join(cwd, 'script')
    writeFileSync(file, script)
    const words = line.split(' ')
    const programs = {
      bash: `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _windfall; printf '%s\\n' "\${COMPREPLY[@]}"`,
      zsh: '',
      fish: `source ${file}; complete -C '${line}'`,
    }
    const { stdout, stderr } = spawnSync(shell, ['-c', programs[shell]], { cwd, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout
      .trim()
      .split('\n')
      .map((offer) => offer.split('\t')[0] ?? '')
  }

  test('bash offers commands, subcommands and options', async () => {
    expect((await offered('bash', 'windfall re')).sort()).toEqual([
      'rebuild',
      'reconcile',
      'refused',
      'restore',
    ])
    expect(await offered('bash', 'windfall apps ')).toEqual(['add', 'remove', 'list', 'refresh'])
    expect(await offered('bash', 'windfall links import links.csv --d')).toEqual(['--dry-run'])
  })

  test.runIf(existsSync('/usr/bin/fish'))('fish offers commands, subcommands and options', async () => {
    expect(await offered('fish', 'windfall apps ')).toEqual(['add', 'list', 'refresh', 'remove'])
    expect(await offered('fish', 'windfall backup --pl')).toEqual(['--plain'])
  })

  test.runIf(existsSync('/usr/bin/zsh'))('zsh accepts the script', async () => {
    const cwd = folderOf()
    const { stdout: script } = await run(['completion', 'zsh'], { cwd })
    const check = spawnSync('zsh', ['-c', `autoload -Uz compinit; compinit -u; ${script}`], {
      cwd,
      encoding: 'utf8',
    })
    expect(check).toMatchObject({ status: 0, stderr: '' })
  })

  test('refuses another shell', async () => {
    const { status, stderr } = await run(['completion', 'tcsh'], { cwd: folderOf() })
    expect([status, stderr]).toEqual([1, 'there is no completion for tcsh; choose bash, zsh, fish\n'])
  })
})
