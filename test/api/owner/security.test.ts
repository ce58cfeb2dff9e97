/** `/api/v1/security`: what was admitted and refused in the last 24 hours, where, why, and to whom. */
import type { InferOutput } from 'valibot'
import { expect, test } from 'vitest'
import type { SecurityAnswer } from '../../../src/api/owner/security.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { openAttested } from '../../attribution/devices/enrolled.ts'

const HOUR = 3_600_000
type Calls = InferOutput<typeof SecurityAnswer>['calls']

async function opened(options: Parameters<typeof openAttested>[0] = {}) {
  const attested = await openAttested(options)
  const { app } = attested
  const headers = await app.signIn()
  const read = async (): Promise<Calls> => {
    const response = await app.request('/api/v1/security', { headers })
    return ((await response.json()) as InferOutput<typeof SecurityAnswer>).calls
  }
  const from = (address: string, more: Record<string, string> = {}) => ({
    'x-forwarded-for': address,
    ...more,
  })
  const identify = (headers: Record<string, string>, more: object = {}) =>
    app.post('/api/sdk/v1/identify', { appUserId: 'ada', bundleId: BUNDLE, ...more }, headers)
  return { ...attested, read, from, identify }
}

const areaOf = ({ areas }: Pick<Calls, 'areas'>, name: string) => areas.find(({ area }) => area === name)

test('nothing but the question itself was called at first', async () => {
  const { read, clock } = await opened()
  expect(await read()).toEqual({
    since_at: clock(),
    until_at: clock(),
    areas: [],
    proof: { proved: { admitted: 0, refused: 0 }, unproved: { admitted: 0, refused: 0 } },
    addresses: [],
    networks: [],
    hours: [],
  })
  expect((await read()).areas).toEqual([{ area: 'api', admitted: 1, refused: 0, reasons: [] }])
})

test('counts by area and reason, and names who was refused most', async () => {
  const { app, read, from, identify, enrol } = await opened()
  const token = await enrol()
  await identify(from('192.0.2.1', { authorization: `Bearer ${token}` }))
  await identify(from('192.0.2.1'))
  for (const n of [1, 2, 3]) await identify(from(`198.51.100.${n}`, { authorization: 'Bearer pk_live_x' }))
  await identify(from('198.51.100.1'), { attributes: { text: 'x'.repeat(70_000) } })
  await identify(
    from('2001:db8:1:2::3', { authorization: `Bearer ${token}`, 'x-windfall-assertion': 'AAAA' }),
  )
  await app.post('/apple/notifications', { signedPayload: 'a.b.c' }, from('198.51.100.9'))
  await app.post('/api/v1/login', { password: 'not the password' }, from('198.51.100.9'))
  const calls = await read()
  expect(areaOf(calls, 'sdk')).toEqual({
    area: 'sdk',
    admitted: 2,
    refused: 5,
    reasons: [
      { code: 'invalid_key', limit: null, calls: 3 },
      { code: 'too_large', limit: null, calls: 1 },
      { code: 'invalid_assertion', limit: null, calls: 1 },
    ],
  })
  expect(areaOf(calls, 'enrolment')).toMatchObject({ admitted: 2, refused: 0 })
  expect(areaOf(calls, 'apple')).toMatchObject({ admitted: 0, refused: 1 })
  expect(areaOf(calls, 'sign_in')).toMatchObject({ admitted: 0, refused: 1 })
  expect(calls.proof).toEqual({ proved: { admitted: 1, refused: 1 }, unproved: { admitted: 1, refused: 4 } })
  expect(calls.addresses.slice(0, 2)).toEqual([
    { address: '198.51.100.1', calls: 2 },
    { address: '198.51.100.9', calls: 2 },
  ])
  expect(calls.networks).toEqual([
    { address: '198.51.100.0/24', calls: 6 },
    { address: '2001:db8:1::/48', calls: 1 },
  ])
  expect(calls.addresses).toContainEqual({ address: '2001:db8:1:2::/64', calls: 1 })
})

test('says which limit was reached', async () => {
  const { app, read, from, identify, enrol } = await opened()
  const token = await enrol()
  for (let n = 0; n < 32; n += 1) await identify(from('192.0.2.1', { authorization: `Bearer ${token}` }))
  for (let n = 0; n < 70; n += 1) await identify(from('192.0.2.7', { authorization: 'Bearer pk_live_x' }))
  for (let n = 0; n < 12; n += 1)
    await app.post('/api/v1/login', { password: 'not the password' }, from('192.0.2.9'))
  const calls = await read()
  expect(areaOf(calls, 'sdk')?.reasons).toEqual([
    { code: 'invalid_key', limit: null, calls: 60 },
    { code: 'rate_limited', limit: 'address', calls: 10 },
    { code: 'rate_limited', limit: 'device', calls: 2 },
  ])
  expect(areaOf(calls, 'sign_in')?.reasons).toContainEqual({
    code: 'rate_limited',
    limit: 'address',
    calls: 2,
  })
})

test('the window of an organization is full for one caller, and shared among several', async () => {
  const { clock, read, from, identify } = await opened()
  for (let n = 0; n < 242; n += 1) await identify(from('192.0.2.1'))
  const limits = async () => areaOf(await read(), 'sdk')?.reasons.map(({ limit, calls }) => [limit, calls])
  expect(await limits()).toEqual([['organization', 2]])
  clock.turn(2 * 60_000)
  for (let n = 0; n < 130; n += 1) await identify(from(n % 130 < 125 ? '192.0.2.1' : `192.0.2.${n}`))
  await identify(from('192.0.2.1'))
  expect(await limits()).toContainEqual(['address', 1])
})

test('sums 24 hours, the current one included, and lists each; older ones are forgotten', async () => {
  const { clock, read, from, identify } = await opened()
  const first_at = clock()
  await identify(from('192.0.2.1'))
  clock.turn(HOUR)
  await identify(from('192.0.2.1', { authorization: 'Bearer pk_live_x' }))
  clock.turn(22 * HOUR)
  const { hours, since_at, ...calls } = await read()
  expect(since_at).toBe(first_at)
  expect(areaOf(calls, 'sdk')).toMatchObject({ admitted: 1, refused: 1 })
  expect(hours.map((hour) => [hour.began_at, areaOf(hour, 'sdk')?.refused])).toEqual([
    [first_at, 0],
    [first_at + HOUR, 1],
  ])
  clock.turn(HOUR)
  expect(areaOf(await read(), 'sdk')).toMatchObject({ admitted: 0, refused: 1 })
  expect((await read()).since_at).toBe(first_at + HOUR)
  clock.turn(HOUR)
  expect(areaOf(await read(), 'sdk')).toBeUndefined()
  expect((await read()).networks).toEqual([])
})

test('an hour that a wrong clock put into the future is forgotten', async () => {
  const { clock, read, from, identify } = await opened()
  clock.turn(400 * 24 * HOUR)
  await identify(from('192.0.2.1'))
  clock.turn(-400 * 24 * HOUR)
  expect((await read()).areas).toEqual([])
  await identify(from('192.0.2.1'))
  expect(areaOf(await read(), 'sdk')).toMatchObject({ admitted: 1 })
})
