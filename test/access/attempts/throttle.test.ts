import { argon2Sync } from 'node:crypto'
import { expect, test } from 'vitest'
import { openThrottle } from '../../../src/access/attempts/throttle.ts'
import { checkPassword, readHash } from '../../../src/access/passwords.ts'
import { Refusal } from '../../../src/errors.ts'
import { clientAt } from '../../../src/http/clients/client.ts'
import { handClock } from '../../helpers.ts'

const MINUTE = 60_000
const from = (address: string, browser: string | null = null) => ({ client: clientAt(address), browser })

function opened() {
  const clock = handClock(0)
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  const throttle = openThrottle({ clock, wait })
  let address = 0
  /** Each attempt comes from another address, like those of a botnet. */
  const attempt = (isRight: boolean, account = 'owner') => {
    address += 1
    return throttle.attempt(account, from(`203.0.${address & 255}.1`), async () => isRight)
  }
  return { clock, waits, throttle, attempt }
}

test('delays each attempt longer after three failures from any address, up to five seconds', async () => {
  const { waits, attempt } = opened()
  for (let n = 0; n < 12; n += 1) expect(await attempt(false)).toBe(false)
  expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000].slice(0, waits.length))
  expect(waits).toHaveLength(8)
  expect(await attempt(true)).toBe(true)
  expect(waits).toHaveLength(9)
  expect(await attempt(false)).toBe(false)
  expect(waits).toHaveLength(9)
})

test('resets the delay after a quarter of an hour without a failure, and counts each account separately', async () => {
  const { clock, waits, attempt } = opened()
  for (let n = 0; n < 5; n += 1) await attempt(false)
  const before = waits.length
  await attempt(false, 'lnk_1')
  expect(waits).toHaveLength(before)
  clock.turn(15 * MINUTE + 1)
  await attempt(false)
  expect(waits).toHaveLength(before)
})

test('grants one attempt a minute after the burst, and sends retry-after', async () => {
  const { clock, throttle } = opened()
  const attempt = () => throttle.attempt('owner', from('203.0.113.9'), async () => false)
  for (let n = 0; n < 10; n += 1) await attempt()
  clock.turn(MINUTE / 2)
  const refused = await attempt().catch((error) => error)
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '30' } })
  clock.turn(MINUTE / 2)
  await attempt()
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' })
  clock.turn(60 * MINUTE)
  for (let n = 0; n < 10; n += 1) await attempt()
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' })
})

test('counts attempts that end as busy, and no others that could not be checked', async () => {
  const { throttle } = opened()
  const attempt = (check: () => Promise<boolean>) => throttle.attempt('owner', from('2001:db8::1'), check)
  const broken = () => Promise.reject(new Error('broken'))
  for (let n = 0; n < 50; n += 1) await expect(attempt(broken)).rejects.toThrow('broken')
  const busy = () => Promise.reject(new Refusal(503, 'busy', 'busy'))
  for (let n = 0; n < 10; n += 1) await expect(attempt(busy)).rejects.toThrow('busy')
  await expect(attempt(async () => true)).rejects.toMatchObject({ code: 'rate_limited' })
})

test('a client is clean unless an attempt of its address or network failed lately or is under way', async () => {
  const { clock, throttle } = opened()
  const laneOf = async (address: string, isRight: boolean, browser: string | null = null) => {
    let found = ''
    await throttle.attempt('owner', from(address, browser), async (lane) => {
      found = lane
      return isRight
    })
    return found
  }
  expect(await laneOf('192.0.2.1', false)).toBe('clean')
  expect(await laneOf('192.0.2.1', true)).toBe('later')
  expect(await laneOf('192.0.2.2', true)).toBe('later')
  expect(await laneOf('192.0.2.1', true, 'b_1')).toBe('known')
  expect(await laneOf('198.51.100.1', true)).toBe('clean')
  expect(await laneOf('198.51.100.1', true)).toBe('clean')
  expect(await laneOf('2001:db8:7:1::1', false)).toBe('clean')
  expect(await laneOf('2001:db8:7:2::1', true)).toBe('later')
  expect(await laneOf('2001:db8:8:1::1', true)).toBe('clean')
  clock.turn(MINUTE)
  expect(await laneOf('192.0.2.1', true)).toBe('clean')
  const inside = throttle.attempt(
    'owner',
    from('203.0.113.1'),
    async () => (await laneOf('203.0.113.1', true)) === 'clean',
  )
  expect(await inside).toBe(false)
})

test.each([
  ['a /48', (n: number) => `2001:db8:7:${n.toString(16)}::1`, '2001:db8:8::1'],
  ['a /24', (n: number) => `203.0.113.${n}`, '203.0.114.1'],
])('all addresses of %s have forty attempts and four more each minute', async (_, addressOf, elsewhere) => {
  const { clock, throttle } = opened()
  let number = 0
  const attempt = () => {
    number += 1
    return throttle.attempt('owner', from(addressOf(number)), async () => false)
  }
  for (let n = 0; n < 40; n += 1) await attempt()
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '15' } })
  expect(await throttle.attempt('owner', from(elsewhere), async () => true)).toBe(true)
  clock.turn(MINUTE)
  for (let n = 0; n < 4; n += 1) await attempt()
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' })
})

test('a known browser has attempts of its own, and waits only after its own failures', async () => {
  const { waits, attempt, throttle } = opened()
  for (let n = 0; n < 12; n += 1) await attempt(false)
  const ofBrowser = (isRight: boolean) =>
    throttle.attempt('owner', from('203.0.1.1', 'b_1'), async () => isRight)
  waits.length = 0
  for (let n = 0; n < 20; n += 1) expect(await ofBrowser(true)).toBe(true)
  for (let n = 0; n < 4; n += 1) expect(await ofBrowser(false)).toBe(false)
  expect(waits).toEqual([])
  for (let n = 0; n < 6; n += 1) await ofBrowser(false)
  expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000])
  // Then its cookie counts for nothing, and its address still does.
  expect(await ofBrowser(true)).toBe(true)
})

/** A hash with the lowest cost. */
function cheapHash(password: string): string {
  const nonce = Buffer.alloc(16, 7)
  const cost = { memory: 64, passes: 1, parallelism: 1, tagLength: 32 }
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
  const hash = argon2Sync('argon2id', { message: password, nonce, ...cost })
  return `$argon2id$v=19$m=64,t=1,p=1$${text(nonce)}$${text(hash)}`
}

test('refuses the last callers when too many passwords are checked at the same time', async () => {
  const phc = cheapHash('x')
  const attempts = Array.from({ length: 40 }, () =>
    checkPassword('x', phc, 'later').then(String, (error) => error.code),
  )
  const outcomes = await Promise.all(attempts)
  expect(outcomes.filter((one) => one === 'busy')).toHaveLength(40 - 2 - 32)
  expect(await checkPassword('x', phc, 'later')).toEqual({ fits: true, stale: true })
  expect(await checkPassword('y', phc, 'later')).toEqual({ fits: false, stale: true })
})

test('reads the cost of a hash, and rejects a hash that is too expensive', () => {
  const text = (m: number, t: number, p: number) =>
    `$argon2id$v=19$m=${m},t=${t},p=${p}$${'A'.repeat(22)}$${'A'.repeat(43)}`
  expect(readHash(text(65_536, 3, 1))).toMatchObject({ cost: { memory: 65_536, passes: 3, parallelism: 1 } })
  for (const phc of [
    text(0, 3, 1),
    text(262_145, 3, 1),
    text(65_536, 11, 1),
    text(65_536, 3, 5),
    text(65_536, 0, 1),
  ])
    expect(readHash(phc)).toBe(null)
})
