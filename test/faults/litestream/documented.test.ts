import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { configured } from '../../config/folder.ts'
import { nonEmpty } from '../../non_empty.ts'
import { folderOf, run, type Serving, start, startServing } from '../../processes.ts'
import { isLong } from '../../random.ts'
import { commandsIn, databasePaths, installedConfig, unit, writeConfig } from './documented.ts'
import { litestream, program, replicate, SKIPPED, VERSION } from './program.ts'

const APP = 'com.example.lantern'
const CONFIG = `[[apps]]\nbundle_id = "${APP}"\n`
const QUICK = ['#sdk_requests_per_minute = ', 'sdk_requests_per_minute = 100000 # '] as const
const USER = 'marie-77'

async function identify({ url }: Serving, appUserId: string, attributes = {}): Promise<number> {
  const { status } = await fetch(`${url}/api/sdk/v1/identify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ appUserId, bundleId: APP, attributes }),
  })
  return status
}

/** Writes several megabytes, after which Litestream checkpoints the log. */
async function fill(running: Serving): Promise<void> {
  const attributes = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`fact${n}`, 'x'.repeat(200)] as const),
  )
  for (let n = 0; n < 60; n += 1) {
    const calls = Array.from({ length: 20 }, (_, one) => identify(running, `crowd-${n}-${one}`, attributes))
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
  }
}

const usersIn = (file: string): unknown[] => {
  const db = new Database(file, { readonly: true })
  try {
    const sql = "select app_user_id from users where app_user_id not like 'crowd%' order by app_user_id"
    return [db.pragma('integrity_check', { simple: true }), ...db.prepare(sql).pluck().all()]
  } finally {
    db.close()
  }
}

/** Runs a documented command, of either program. */
async function runDocumented([name = '', ...args]: string[], cwd: string): Promise<string> {
  if (name === 'litestream') return litestream(args)
  const ended = await run(args, { cwd })
  expect(ended).toMatchObject({ status: 0 })
  return ended.stdout
}

const open = () => {
  const cwd = folderOf()
  writeFileSync(join(cwd, 'config.toml'), `${installedConfig(cwd).replace(...QUICK)}${CONFIG}`, {
    mode: 0o600,
  })
  return { cwd, files: writeConfig(cwd), list: async () => (await run(['forget', '--list'], { cwd })).stdout }
}

test.skipIf(program === null)(
  `beside Litestream, a deleted user is pending in the log, and then gone from both files${SKIPPED}`,
  { timeout: 240_000 },
  async () => {
    const { cwd, files, list } = open()
    const running = await startServing({ cwd })
    const replication = await replicate(files.config, files)
    await identify(running, USER)
    await fill(running)
    await replication.sync()
    // It keeps its read lock, and cannot checkpoint the log before it was looked at.
    replication.signal('SIGSTOP')
    const erasing = start(['forget', '--app', APP, USER], { cwd }).ended
    const patience = AbortSignal.timeout(200_000)
    while (!(await list()).includes('pending in the log')) patience.throwIfAborted()
    expect(readFileSync(`${files.database}-wal`).includes(USER)).toBe(true)
    replication.signal('SIGCONT')
    // A quiet server waits for Litestream's checkpoint, a minute after the last change.
    if (!isLong) await fill(running)
    while ((await list()).includes('pending in the log')) patience.throwIfAborted()
    for (const suffix of ['', '-wal'])
      expect(readFileSync(`${files.database}${suffix}`).includes(USER)).toBe(false)
    expect(await erasing).toMatchObject({ status: 0 })
    await identify(running, 'paul-1')
    await replication.sync()
    running.kill('SIGTERM')
    const { status, stdout } = await running.ended
    // The log stays next to the file, and nobody is warned.
    expect({ status, warned: stdout.includes('could not be checkpointed') }).toEqual({
      status: 0,
      warned: false,
    })
    expect(statSync(`${files.database}-wal`).size).toBeGreaterThan(0)
    await replication.end('SIGTERM')
    const restored = join(cwd, 'restored.db')
    litestream(['restore', '-config', files.config, '-o', restored, files.database])
    expect(usersIn(restored)).toEqual(['ok', 'paul-1'])
  },
)

test.skipIf(program === null)(
  `the documented commands of Litestream work, and replication continues after a restore${SKIPPED}`,
  { timeout: 90_000 },
  async () => {
    const { cwd, files } = open()
    const [installing, checking, restoring] = commandsIn(cwd)
    expect(installing?.flat().join(' ')).toContain(`@${VERSION}`)
    const running = await startServing({ cwd })
    const replication = await replicate(files.config, files)
    await identify(running, 'first')
    const printed: string[] = []
    for (const command of nonEmpty(checking ?? [])) printed.push(await runDocumented(command, cwd))
    expect(JSON.parse(printed[0] ?? '')).toMatchObject({ db_path: files.database })
    expect(printed[1]).toContain('[replicating]')
    expect(printed[2]).toMatch(/windfall\.db +ok +[0-9a-f]{16}/)
    expect(printed[3]).toMatch(/^level +min_txid/)
    expect(await run(['backup', join(cwd, 'backup.tar'), '--plain'], { cwd })).toMatchObject({ status: 0 })
    running.kill('SIGKILL')
    await running.ended
    await replication.end('SIGTERM')

    const steps: string[] = []
    for (const command of nonEmpty(restoring ?? [])) steps.push(await runDocumented(command, cwd))
    expect(steps[2]).toContain(`Stop it, run litestream reset ${files.database}, and start it.`)
    expect(usersIn(files.database)).toEqual(['ok', 'first'])
    const again = await startServing({ cwd })
    const continued = await replicate(files.config, files)
    await identify(again, 'second')
    await continued.sync()
    again.kill('SIGTERM')
    await again.ended
    await continued.end('SIGKILL')
    const restored = join(cwd, 'again.db')
    litestream(['restore', '-config', files.config, '-o', restored, files.database])
    expect(usersIn(restored)).toEqual(['ok', 'first', 'second'])
  },
)

test('the page names the database of windfall install', () => {
  const { config } = configured(installedConfig('/var/lib/windfall'))
  expect(new Set(nonEmpty(databasePaths()))).toEqual(new Set([config.store.path]))
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasSystemd)('the documented unit is valid (skipped without systemd-analyze)', () => {
  const file = join(folderOf(), 'litestream.service')
  writeFileSync(
    file,
    unit().replace('/usr/local/bin/litestream', process.execPath).replace('User=windfall', 'User=root'),
  )
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
