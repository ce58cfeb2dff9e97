import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { expectErrorsInFile } from '../guards/error_lines.ts'
import { folderOf, run, type Serving, startServing } from '../processes.ts'

// Whatever is due while the disk is full, or the file another one, fails. Which parts are depends on the second.
expectErrorsInFile(
  'the database cannot be written now',
  'database or disk is full',
  'disk I/O error',
  'was replaced or deleted while it was being served',
  'a job failed',
  'alerts pause for 30 seconds after an error',
  'forwarding could not look for due deliveries',
  'the metrics cannot be brought up to date',
  'alerts could not be evaluated',
  'alerts could not read the feed',
)

const APP = 'com.example.lantern'
const CONFIG = `[rates]\nfetch = false\n[limits]\nsdk_requests_per_minute = 100000\n[[apps]]\nbundle_id = "${APP}"\n`

const identify = async ({ url }: Serving, appUserId: string, attributes = {}) => {
  const answer = await fetch(`${url}/api/sdk/v1/identify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ appUserId, bundleId: APP, attributes }),
  })
  return { status: answer.status, ...((await answer.json()) as { code?: string }) }
}
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
const storageOf = async ({ url }: Serving): Promise<unknown> =>
  ((await (await fetch(`${url}/api/v1/session`)).json()) as { storage: unknown }).storage

/** Polls `ask` until it returns `wanted`, because the server checks the disk once per second. */
async function until<Value>(probeState: () => Promise<Value>, wanted: Value): Promise<void> {
  const patience = AbortSignal.timeout(20_000)
  while ((await probeState()) !== wanted) patience.throwIfAborted()
}

const mounted: string[] = []
afterAll(() => {
  for (const folder of mounted) spawnSync('umount', ['-l', folder])
})

/** Mounts a file system of this size in megabytes. Returns null if the user may not mount one. */
function smallDisk(megabytes: number): string | null {
  const { path } = temporaryFolder()
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  if (status !== 0) return null
  mounted.push(path)
  return path
}

const probe = smallDisk(1)

test.skipIf(probe === null)(
  'on a full disk, ingest is refused, reading and signing in work, and it recovers (skipped if no file system can be mounted)',
  { timeout: 120_000 },
  async () => {
    const cwd = smallDisk(64) ?? ''
    writeFileSync(join(cwd, 'config.toml'), CONFIG, { mode: 0o600 })
    const running = await startServing({ cwd })
    expect((await identify(running, 'first')).status).toBe(200)
    const ballast = async () =>
      statSync(join(cwd, 'data/windfall.db.ballast'), { throwIfNoEntry: false })?.size
    await until(ballast, 16_777_216)
    // Fills the disk to the last byte, as another program would.
    spawnSync('dd', ['if=/dev/zero', `of=${join(cwd, 'filler')}`, 'bs=1M', 'count=100'])
    await until(() => storageOf(running), 'full')
    expect(await identify(running, 'second')).toMatchObject({ status: 503 })
    expect(await statusOf(`${running.url}/healthz`)).toBe(200)
    expect((await run(['doctor'], { cwd })).stdout).toMatch(/error +Database +The disk is full/)
    expect(await statusOf(`${running.url}/readyz`)).toBe(503)
    // The server deletes its ballast file, which frees space for the owner's requests.
    const link = /setup#(\S+)/.exec(running.stdout())?.[1]
    const setup = await fetch(`${running.url}/api/v1/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ token: link, password: 'an uncommon pass phrase' }),
    })
    expect(setup.status).toBe(200)
    rmSync(join(cwd, 'filler'))
    await until(() => storageOf(running), 'ok')
    expect((await identify(running, 'second')).status).toBe(200)
    expect(await statusOf(`${running.url}/readyz`)).toBe(200)
    running.kill('SIGTERM')
    expect((await running.ended).status).toBe(0)
  },
)

test('a database file that is replaced or removed under a running server is answered with 503, never with 200', async () => {
  const cwd = folderOf({ 'config.toml': CONFIG })
  const running = await startServing({ cwd })
  expect((await identify(running, 'first')).status).toBe(200)
  const backup = join(cwd, 'copy')
  mkdirSync(backup)
  await run(['backup', 'b.tar'], { cwd })
  await run(['restore', 'b.tar', '--into', backup], { cwd })
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(cwd, `data/windfall.db${suffix}`), { force: true })
  copyFileSync(join(backup, 'data/windfall.db'), join(cwd, 'data/windfall.db'))
  expect(await identify(running, 'lost')).toMatchObject({ status: 503, code: 'store_replaced' })
  expect(await statusOf(`${running.url}/readyz`)).toBe(503)
  expect((await run(['doctor'], { cwd })).stdout).toMatch(
    /error +Database +.*was replaced or deleted while Windfall was using it/,
  )
  running.kill('SIGTERM')
  expect((await running.ended).status).toBe(0)
  const again = await startServing({ cwd })
  expect((await identify(again, 'kept')).status).toBe(200)
  cpSync(join(cwd, 'config.toml'), join(cwd, 'config.copy'))
  rmSync(join(cwd, 'data'), { recursive: true })
  expect((await identify(again, 'lost')).status).toBe(503)
  expect(await storageOf(again)).toBe('replaced')
  again.kill('SIGTERM')
  await again.ended
})
