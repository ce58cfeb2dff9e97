import { argon2Sync } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { checkPassword } from '../../../src/access/passwords.ts'
import { openThrottle } from '../../../src/access/throttle.ts'
import { handClock, openTestApp, type TestApp } from '../../helpers.ts'
import { isLong } from '../../random.ts'

const MINUTE = 60_000
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

test('serves the first class before others, its newest first, and evicts others for it', async () => {
  const order: string[] = []
  const check = (name: string, place: 'first' | 'later') =>
    checkPassword('x', CHEAP, place).then(
      () => order.push(name),
      (error) => order.push(`${name} ${error.code}`),
    )
  const all = Array.from({ length: RUNNING + WAITING }, (_, n) => check(`later ${n}`, 'later'))
  all.push(check('too late', 'later'))
  for (let n = 0; n < FIRST; n += 1) all.push(check(`first ${n}`, 'first'))
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
    checkPassword('x', CHEAP, 'first').then(
      () => null,
      () => n,
    ),
  )
  // Of too many of the first class the one that waits for longest makes room.
  expect((await Promise.all(flood)).filter((n) => n !== null)).toEqual([RUNNING])
})

test('an attempt that could not be checked does not count', async () => {
  const throttle = openThrottle({ clock: handClock(0), wait: async () => {} })
  const attempt = (check: () => Promise<boolean>) => throttle.attempt('owner', '2001:db8::1', check)
  const busy = () => Promise.reject(new Error('busy'))
  for (let n = 0; n < 50; n += 1) await expect(attempt(busy)).rejects.toThrow('busy')
  for (let n = 0; n < 10; n += 1) expect(await attempt(async () => false)).toBe(false)
  await expect(attempt(async () => false)).rejects.toMatchObject({ code: 'rate_limited' })
})

test('all addresses of a /48 have forty attempts and four more each minute', async () => {
  const clock = handClock(0)
  const throttle = openThrottle({ clock, wait: async () => {} })
  let number = 0
  const attempt = () => {
    number += 1
    return throttle.attempt('owner', `2001:db8:7:${number.toString(16)}::1`, async () => false)
  }
  for (let n = 0; n < 40; n += 1) await attempt()
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '15' } })
  expect(await throttle.attempt('owner', '2001:db8:8::1', async () => true)).toBe(true)
  clock.turn(MINUTE)
  for (let n = 0; n < 4; n += 1) await attempt()
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' })
})

test('an address is clean unless an attempt of it or of its /48 failed lately or is under way', async () => {
  const clock = handClock(0)
  const throttle = openThrottle({ clock, wait: async () => {} })
  async function isClean(address: string, isRight: boolean): Promise<boolean> {
    let clean = false
    await throttle.attempt('owner', address, async (is_clean) => {
      clean = is_clean
      return isRight
    })
    return clean
  }
  expect(await isClean('192.0.2.1', false)).toBe(true)
  expect(await isClean('192.0.2.1', true)).toBe(false)
  expect(await isClean('192.0.2.2', true)).toBe(true)
  expect(await isClean('192.0.2.2', true)).toBe(true)
  expect(await isClean('2001:db8:7:1::1', false)).toBe(true)
  expect(await isClean('2001:db8:7:2::1', true)).toBe(false)
  expect(await isClean('2001:db8:8:1::1', true)).toBe(true)
  clock.turn(MINUTE)
  expect(await isClean('192.0.2.1', true)).toBe(true)
  const underWay = throttle.attempt('owner', '192.0.2.3', async () => isClean('192.0.2.3', true))
  expect(await underWay).toBe(false)
})
