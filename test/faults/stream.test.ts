import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { dial, post, sendRaw } from '../http/wire.ts'
import { folderOf, run, startServing } from '../processes.ts'

const WATCHERS = 1_000
const CALLS = 40

/** A reader of the live feed: the seqs of the received events, and whether it is still connected. */
async function watch(port: number, token: string) {
  const socket: Socket = await dial(port)
  const seqs = new Set<number>()
  let text = ''
  let changed = (): void => {}
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    for (const [, seq] of text.matchAll(/^id: (\d+)\n/gm)) seqs.add(Number(seq))
    text = text.slice(text.lastIndexOf('\n') + 1)
    changed()
  })
  socket.once('close', () => changed())
  const until = (is: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      changed = () => {
        if (is()) resolve()
        else if (socket.closed) reject(new Error(`cut off with ${seqs.size} events`))
      }
      changed()
    })

  socket.write(
    `GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  let head = ''
  await new Promise<void>((resolve) => {
    const listen = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      if (!head.includes('retry: 2000')) return
      socket.off('data', listen)
      resolve()
    }
    socket.on('data', listen)
  })
  expect(head).toMatch(/^HTTP\/1\.1 200 /)
  return { socket, seqs, gets: (count: number) => until(() => seqs.size >= count) }
}

test(`${WATCHERS} readers of the live feed each get every event, and calls are answered meanwhile`, async () => {
  const toml = `[limits]\nsdk_requests_per_minute = 1000\n[[apps]]\nbundle_id = "${BUNDLE}"\n`
  const cwd = folderOf({ 'config.toml': toml })
  const serving = await startServing({ cwd })
  const [, token = ''] = (await run(['tokens', 'create'], { cwd })).stdout.split(/\s+/)
  const watchers = await Promise.all(Array.from({ length: WATCHERS }, () => watch(serving.port, token)))

  const call = (n: number) =>
    sendRaw(
      serving.port,
      post('/api/sdk/v1/identify', JSON.stringify({ appUserId: `user-${n}`, bundleId: BUNDLE })),
    )
  const answers = await Promise.all(Array.from({ length: CALLS }, (_, n) => call(n)))
  expect(answers.map((answer) => answer.slice(9, 12))).toEqual(Array(CALLS).fill('200'))
  await Promise.all(watchers.map(({ gets }) => gets(CALLS)))
  const seqs = Array.from({ length: CALLS }, (_, n) => n + 1)
  for (const watcher of watchers) expect([...watcher.seqs]).toEqual(seqs)

  // Half of the readers disconnect without notice while events arrive.
  const answered = call(CALLS)
  for (const { socket } of watchers.slice(WATCHERS / 2)) socket.destroy()
  expect((await answered).slice(9, 12)).toBe('200')
  await Promise.all(watchers.slice(0, WATCHERS / 2).map(({ gets }) => gets(CALLS + 1)))

  const ends = watchers
    .slice(0, WATCHERS / 2)
    .map(({ socket }) => new Promise((end) => socket.once('close', end)))
  serving.kill('SIGTERM')
  await Promise.all(ends)
  expect(await serving.ended).toMatchObject({ status: 0, stderr: '' })
})
