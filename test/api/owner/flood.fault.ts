import { argon2Sync } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import type { Lane } from '../../../src/access/attempts/throttle.ts'
import { checkPassword } from '../../../src/access/passwords.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'
import { isLong } from '../../random.ts'

const PASSWORD = 'correct horse battery'
/** Hashes that are made at once, and that wait at most. */
const RUNNING = 2
const WAITING = 32
/** The number of checks of the first class. */
const FIRST = 6

/** A hash of so much memory and so many passes, where ours has 65,536 KiB and three. */
function hashOf(password: string, memory: number, passes: number): string {
  const nonce = Buffer.alloc(16, 7)
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const cost = { memory, passes, parallelism: 1, tagLength: 32 }
  const hash = argon2Sync('argon2id', { message: password, nonce, ...cost })
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${text(nonce)}$${text(hash)}`
}
const PHC = hashOf(PASSWORD, 32_768, 1)
const CHEAP = hashOf(PASSWORD, 8_192, 1)

let app: TestApp
beforeEach(async () => {
  app = await openTestApp()
  await app.windfall.store.commit(() => app.windfall.owner.setPassword(PHC))
})

const login = async (address: string, password: string) => {
  const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address }
  return (await app.post('/api/v1/login', { password }, headers)).status
}

const ONE_SITE = ['of one /48', (n: number) => `2001:db8:7:${n.toString(16)}::1`] as const
const SITES = ['of as many /48s', (n: number) => `2001:db8:${n.toString(16)}::1`] as const
test.each([SITES, ...(isLong ? [ONE_SITE] : [])])(
  '200 guesses at once from 20 /64s %s: the owner is served next after the hashes under way',
  async (_, of) => {
    const statuses: number[] = []
    const guesses = Array.from({ length: 200 }, async (_each, n) => {
      statuses.push(await login(of(n % 20), 'wrong, but long'))
    })
    // Those that found no room are told at once; the others are being checked or wait.
    while (statuses.length < 200 - RUNNING - WAITING) await new Promise(setImmediate)
    const before = statuses.length
    expect(await login('203.0.113.9', PASSWORD)).toBe(200)
    // Meanwhile the owner's hash was made anew at its full cost, beside a few guesses.
    expect(statuses.length - before).toBeLessThan(WAITING / 2)
    await Promise.all(guesses)
    const allowed = new Set([401, 429, 503])
    expect(statuses.filter((status) => !allowed.has(status))).toEqual([])
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThan(RUNNING)
  },
)

test('a browser that signed in before is served next, however many networks guess', async () => {
  const signedIn = await app.post(
    '/api/v1/login',
    { password: PASSWORD },
    { 'sec-fetch-site': 'same-origin' },
  )
  const cookie = signedIn.headers.getSetCookie()[1]?.split(';')[0] ?? ''
  const statuses: number[] = []
  const guess = async (n: number) => statuses.push(await login(`198.18.${n}.1`, 'wrong, but long'))
  const first = Array.from({ length: 100 }, (_, n) => guess(n))
  while (statuses.length < 100 - RUNNING - WAITING) await new Promise(setImmediate)
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '198.18.0.1' }
  const owner = app.post('/api/v1/login', { password: PASSWORD }, headers)
  // Each of these is newer, and none has failed before.
  const later = Array.from({ length: 100 }, (_, n) => guess(100 + n))
  expect((await owner).status).toBe(200)
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(WAITING / 2)
  await Promise.all([...first, ...later])
  expect(new Set(statuses)).toEqual(new Set([401, 503]))
})

test('serves the first class before others, its newest first, and evicts others for it', async () => {
  const order: string[] = []
  const check = (name: string, place: Lane) =>
    checkPassword('x', CHEAP, place).then(
      () => order.push(name),
      (error) => order.push(`${name} ${error.code}`),
    )
  const all = Array.from({ length: RUNNING + WAITING }, (_, n) => check(`later ${n}`, 'later'))
  all.push(check('too late', 'later'))
  for (let n = 0; n < FIRST; n += 1) all.push(check(`first ${n}`, 'clean'))
  await Promise.all(all)
  // The latest to wait have made room, one for each of the first class.
  const refused = Array.from({ length: FIRST }, (_, n) => `later ${RUNNING + WAITING - 1 - n} busy`)
  expect(order.slice(0, FIRST + 1)).toEqual(['too late busy', ...refused])
  const served = order.slice(FIRST + 1)
  expect(served).toHaveLength(RUNNING + WAITING)
  // Two hashes run at the same time, and a busy machine may delay one of them, so neighbors may change places.
  const first = served.filter((name) => name.startsWith('first'))
  expect(served.indexOf(first.at(-1) ?? '')).toBeLessThan(WAITING / 2)
  const numbers = first.map((name) => Number(name.slice('first '.length)))
  const pairs = numbers.flatMap((a, index) => numbers.slice(index + 1).map((b) => a > b))
  expect(pairs.filter(Boolean).length).toBeGreaterThan(pairs.length * 0.7)

  const flood = Array.from({ length: RUNNING + WAITING + 1 }, (_, n) =>
    checkPassword('x', CHEAP, 'clean').then(
      () => null,
      () => n,
    ),
  )
  // Of too many of the first class the one that waits for longest makes room.
  expect((await Promise.all(flood)).filter((n) => n !== null)).toEqual([RUNNING])
})
