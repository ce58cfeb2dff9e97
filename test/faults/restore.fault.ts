import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { folderOf, run, startServing } from '../processes.ts'

const APP = 'com.example.lantern'
const CONFIG = `[rates]\nfetch = false\n[[apps]]\nbundle_id = "${APP}"\n`
const identify = (url: string, appUserId: string) =>
  fetch(`${url}/api/sdk/v1/identify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ appUserId, bundleId: APP }),
  })

const good = async (args: string[], cwd: string, env = {}): Promise<string> => {
  const { status, stdout, stderr } = await run(args, { cwd, env })
  expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' })
  return stdout
}
const refused = async (args: string[], cwd: string, code = 1): Promise<string> => {
  // A server listens before it opens the database, so it needs a free port to get there.
  const { status, stderr } = await run(args, { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
  expect({ args, status }).toEqual({ args, status: code })
  return stderr
}

const usersIn = (folder: string): unknown[] => {
  const db = new Database(join(folder, 'data/windfall.db'), { readonly: true })
  try {
    return db.prepare('select app_user_id from users order by app_user_id').pluck().all()
  } finally {
    db.close()
  }
}

test('every call answered before a backup began is in it, and it is restored elsewhere with one command', async () => {
  const cwd = folderOf({ 'config.toml': CONFIG })
  const running = await startServing({ cwd, env: { WINDFALL_LOG_LEVEL: 'info' } })
  const before = Array.from({ length: 100 }, (_, n) => `user-${String(n).padStart(3, '0')}`)
  for (const user of before) expect((await identify(running.url, user)).status).toBe(200)
  let isDone = false
  const load = (async () => {
    for (let n = 0; !isDone; n += 1) await identify(running.url, `later-${n % 50}`)
  })()
  const backupOutput = await good(['backup', 'backup.tar'], cwd)
  isDone = true
  await load
  expect(backupOutput).toMatch(
    /backup\.tar: [\d,]+ bytes, [\d,]+ rows in \d+ tables, verified\nsha256 [0-9a-f]{64}\n/,
  )
  expect(backupOutput).toContain('Not included: WINDFALL_LOG_LEVEL')
  expect(await refused(['restore', 'backup.tar'], cwd)).toContain(`is being served by process ${running.pid}`)
  expect(await refused(['backup', 'backup.tar'], cwd)).toContain('a backup never overwrites a file')
  running.kill('SIGTERM')
  await running.ended
  expect(readdirSync(cwd).sort()).toEqual(['backup.tar', 'config.toml', 'data'])

  const otherFolder = folderOf()
  copyFileSync(join(cwd, 'backup.tar'), join(otherFolder, 'backup.tar'))
  const words = await good(['restore', 'backup.tar'], otherFolder)
  expect(words).toContain('Not in the backup: WINDFALL_LOG_LEVEL')
  expect(words).toContain('Later identify and attribute calls')
  expect(readFileSync(join(otherFolder, 'config.toml'), 'utf8')).toBe(CONFIG)
  expect(usersIn(otherFolder)).toEqual(expect.arrayContaining(before))
  const again = await startServing({ cwd: otherFolder })
  expect((await identify(again.url, 'user-000')).status).toBe(200)
  again.kill('SIGTERM')
  expect((await again.ended).status).toBe(0)
})

/** A folder whose server was killed. Its database has the users `before` and `after`, its backup only `before`. */
async function crashedWithBackup(): Promise<string> {
  const cwd = folderOf({ 'config.toml': CONFIG })
  const running = await startServing({ cwd })
  await identify(running.url, 'before')
  await good(['backup', 'backup.tar'], cwd)
  await identify(running.url, 'after')
  // The killed server leaves its write-ahead log, which must not be replayed into the backup.
  running.kill('SIGKILL')
  await running.ended
  expect(existsSync(join(cwd, 'data/windfall.db-wal'))).toBe(true)
  return cwd
}

test('restore overwrites nothing: it moves the old database and its log aside and keeps other files', async () => {
  const cwd = await crashedWithBackup()
  appendFileSync(join(cwd, 'config.toml'), '# changed since\n')
  const words = await good(['restore', 'backup.tar'], cwd)
  expect(words).toContain('windfall.db.replaced-1')
  expect(words).toContain('config.toml.restored')
  expect(readFileSync(join(cwd, 'config.toml'), 'utf8')).toContain('# changed since')
  expect(readFileSync(join(cwd, 'config.toml.restored'), 'utf8')).toBe(CONFIG)
  expect(usersIn(cwd)).toEqual(['before'])
  const aside = new Database(join(cwd, 'data/windfall.db.replaced-1'))
  expect(aside.prepare('select app_user_id from users order by 1').pluck().all()).toEqual(['after', 'before'])
  aside.close()
  expect(await good(['restore', 'backup.tar'], cwd)).toContain('windfall.db.replaced-2')
})

test('serve refuses a backup copied over a crashed database; windfall restore repairs it', async () => {
  const cwd = await crashedWithBackup()
  const unpacked = folderOf()
  expect(await good(['restore', join(cwd, 'backup.tar'), '--into', unpacked], cwd)).toContain(
    `To inspect it: WINDFALL_SERVER_PORT=0 npm run -s windfall -- serve --config ${join(unpacked, 'config.toml')}`,
  )
  copyFileSync(join(unpacked, 'data/windfall.db'), join(cwd, 'data/windfall.db'))
  for (const command of [['serve'], ['backup', 'other.tar']])
    expect(await refused(command, cwd)).toContain('npm run -s windfall -- restore BACKUP')
  const { stdout } = await run(['doctor'], { cwd })
  expect(stdout).toMatch(/error +Database +.*is the log of another database/)
  await good(['restore', 'backup.tar'], cwd)
  expect(usersIn(cwd)).toEqual(['before'])
  expect(existsSync(join(cwd, 'data/windfall.db.replaced-1-wal'))).toBe(true)
})

test('serve refuses an older copy, which another program made, beside the log of a crashed database', async () => {
  const cwd = folderOf({ 'config.toml': CONFIG })
  const [database, copy] = [join(cwd, 'data/windfall.db'), join(cwd, 'copy.db')]
  const running = await startServing({ cwd })
  await identify(running.url, 'before')
  const other = new Database(database)
  await other.backup(copy)
  other.close()
  await identify(running.url, 'after')
  running.kill('SIGKILL')
  await running.ended
  copyFileSync(copy, database)
  expect(await refused(['serve'], cwd)).toContain('is the log of another database')
  expect((await run(['doctor'], { cwd })).stdout).toMatch(/error +Database +.*is the log of another database/)
  await good(['restore', copy], cwd)
  expect(usersIn(cwd)).toEqual(['before'])
})

test('serve refuses an interrupted restore, which a second run finishes', async () => {
  const cwd = await crashedWithBackup()
  const database = join(cwd, 'data/windfall.db')
  // A kill between two renames leaves this state: the database was moved aside, its log was not.
  writeFileSync(`${database}.swapping`, `${database}.replaced-1`)
  renameSync(database, `${database}.replaced-1`)
  expect(await refused(['serve'], cwd)).toContain('a restore of')
  expect((await run(['doctor'], { cwd })).stdout).toMatch(/error +Database +a restore of .* was interrupted/)
  await good(['restore', 'backup.tar'], cwd)
  expect(usersIn(cwd)).toEqual(['before'])
  const aside = new Database(`${database}.replaced-1`)
  expect(aside.prepare('select app_user_id from users order by 1').pluck().all()).toEqual(['after', 'before'])
  aside.close()
  // A kill after the last rename leaves this state. The restored database must not be moved aside.
  writeFileSync(`${database}.swapping`, `${database}.replaced-1`)
  await good(['restore', 'backup.tar'], cwd)
  expect(existsSync(`${database}.replaced-2`)).toBe(true)
  expect(existsSync(`${database}.swapping`)).toBe(false)
})

test('refuses damaged backups, other files and missing files without changing anything', async () => {
  const cwd = folderOf({ 'config.toml': CONFIG })
  const running = await startServing({ cwd })
  await identify(running.url, 'before')
  await good(['backup', 'backup.tar'], cwd)
  running.kill('SIGTERM')
  await running.ended
  const bytes = readFileSync(join(cwd, 'backup.tar'))
  const middle = Math.floor(bytes.length / 2)
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  writeFileSync(join(cwd, 'damaged.tar'), bytes)
  const names = () => readdirSync(join(cwd, 'data')).sort()
  const there = names()
  expect(await refused(['restore', 'damaged.tar'], cwd)).toContain('is damaged or incomplete')
  expect(await refused(['restore', 'config.toml'], cwd)).toContain(
    'is neither a Windfall backup nor a database',
  )
  expect(await refused(['restore', 'nothing.tar'], cwd)).toContain('there is no file')
  expect(names().filter((name) => !name.endsWith('.lock'))).toEqual(
    there.filter((name) => !name.endsWith('.lock')),
  )
  expect(usersIn(cwd)).toEqual(['before'])
})

test('a backup without a server, encrypted for the configured recipients, opens with the identity', async () => {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const cwd = folderOf({
    'config.toml': `${CONFIG}[backup]\nrecipients = ["${recipient}"]\n`,
    'key.txt': identity,
  })
  const running = await startServing({ cwd })
  await identify(running.url, 'before')
  running.kill('SIGTERM')
  await running.ended
  expect(await good(['backup', 'backup.tar.age'], cwd)).toContain('verified, encrypted')
  expect(await refused(['restore', 'backup.tar.age'], cwd)).toContain('--identity')
  const into = folderOf()
  await good(['restore', 'backup.tar.age', '--identity', 'key.txt', '--into', into], cwd)
  expect(usersIn(into)).toEqual(['before'])
  expect(await refused(['backup', 'x.tar', '--plain', '--passphrase'], cwd, 2)).toContain('choose one of')
})
