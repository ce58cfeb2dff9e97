import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { type Authority, headerOf, openAuthority, signUnder } from '../../src/demo/signing/authority.ts'
import { openRandom } from '../../src/demo/world/random.ts'
import { BUNDLE, NOW, transactionPayload } from '../apple/samples.ts'
import { folderOf, run, startServing } from '../processes.ts'
import { isLong, seed } from '../random.ts'

const REQUESTS = isLong ? 100_000 : 5_000
const CONNECTIONS = 32
/** A heap smaller than the bytes that are sent. */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=2' }

/** `cut`: the request is so large that the server may close the connection early, which can lose the response. */
type AttackRequest = { path: string; body?: string; authorization?: string; cut?: true }

const NOTIFICATIONS = '/apple/notifications'
const IDENTIFY = '/api/sdk/v1/identify'
const text = (value: unknown): string => JSON.stringify(value)
const encoded = (value: unknown): string => Buffer.from(text(value)).toString('base64url')

/** Junk requests. Each call returns a slightly different one. */
function junkOf(authority: Authority): ((n: number) => AttackRequest)[] {
  const random = openRandom(`abuse/${seed}`)
  const { x5c } = headerOf(authority)
  const certificate = Buffer.alloc(7_000, 1).toString('base64')
  const forged = signUnder(headerOf(authority), transactionPayload(), authority.leaf_key)
  const signed = (signedPayload: string): AttackRequest => ({
    path: NOTIFICATIONS,
    body: text({ signedPayload }),
  })
  const under = (header: object, n: number) =>
    signed(`${encoded(header)}.${encoded({ n })}.${'A'.repeat(86)}`)
  const call = (more: object) => text({ appUserId: 'me', bundleId: BUNDLE, ...more })
  return [
    (n) => ({ path: IDENTIFY, body: `{"appUserId":"${n}"` }),
    (n) => ({ path: IDENTIFY, body: call({ bundleId: `com.unknown.app${n}` }) }),
    (n) => ({ path: IDENTIFY, body: call({}), authorization: `Bearer sk_live_${random.hex(48)}${n}` }),
    (n) => ({ path: IDENTIFY, body: call({ attributes: { [`k${n}`]: { not: 'allowed' } } }) }),
    () => ({ path: IDENTIFY, body: call({ attributes: { long: 'x'.repeat(70_000) } }), cut: true }),
    () => ({ path: IDENTIFY, body: '['.repeat(60_000) }),
    (n) => ({ path: '/api/sdk/v1/attribute', body: call({ originalTransactionId: `${n}`, jws: forged }) }),
    (n) => ({ path: NOTIFICATIONS, body: text({ signedPayload: `junk ${n}` }) }),
    (n) => signed(`${forged.slice(0, 4_000 + (n % 900))}x${forged.slice(5_000)}`),
    (n) => signed(signUnder(headerOf(authority), transactionPayload({ n }), authority.leaf_key)),
    (n) => under({ alg: 'none', x5c, n }, n),
    (n) => under({ alg: 'ES256', x5c: [x5c[0], certificate, x5c[2]], n }, n),
    // Nearly a megabyte, which takes as long to send as a hundred other requests.
    (n) => under({ alg: 'ES256', x5c: Array(n % 10 === 0 ? 70 : 4).fill(certificate), n }, n),
    (n) => under({ alg: 'ES256', x5c: Array(9_000).fill('MII='), n }, n),
    (n) => ({ path: `/apple/notifications/nobody${n}`, body: text({ signedPayload: forged }) }),
    (n) => ({ path: '/api/v1/events', authorization: `Bearer wf_${random.hex(48)}${n}` }),
    (n) => ({ path: `/api/v1/events/stream?app=${n}` }),
    (n) => ({ path: `/${random.hex(40)}/${n}?${'q=1&'.repeat(500)}` }),
  ]
}

test(`${REQUESTS} junk requests: memory and disk stay bounded, and valid requests get answers`, {
  timeout: isLong ? 600_000 : 60_000,
}, async () => {
  const authority = await openAuthority({ now: NOW })
  const cwd = folderOf({
    'config.toml': `[limits]\nsdk_requests_per_minute = 100000\n[[apps]]\nbundle_id = "${BUNDLE}"\n`,
  })
  const serving = await startServing({ cwd, env: SMALL_HEAP })
  const kinds = junkOf(authority)
  const pool = new Pool(serving.url, { connections: CONNECTIONS })
  const answers = new Map<number, number>()
  let next = 0

  async function send({ path, body, authorization, cut }: AttackRequest): Promise<number> {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    const method = body === undefined ? 'GET' : 'POST'
    const sent = { path, method, headers, reset: cut === true, ...(body !== undefined && { body }) } as const
    try {
      const answer = await pool.request(sent)
      await answer.body.dump()
      return answer.statusCode
    } catch (error) {
      if (cut) return 413
      throw error
    }
  }

  async function client(): Promise<void> {
    for (let n = next++; n < REQUESTS; n = next++) {
      const status = await send(kinds[n % kinds.length]?.(n) ?? { path: '/' })
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  expect([...answers.keys()].sort()).toEqual([400, 401, 404, 413, 429])

  const call = { path: IDENTIFY, body: text({ appUserId: 'me', bundleId: BUNDLE }) }
  expect(await send(call)).toBe(200)
  const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(serving.pid)]).toString())
  expect(kilobytes).toBeLessThan(300_000)
  expect(statSync(join(cwd, 'data/windfall.db-wal')).size).toBeLessThan(64_000_000)
  await pool.destroy()
  expect((await run(['apps', 'list'], { cwd })).status).toBe(0)
  serving.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ status: 0, stderr: '' })
  expect(statSync(join(cwd, 'data/windfall.db')).size).toBeLessThan(20_000_000)
})
