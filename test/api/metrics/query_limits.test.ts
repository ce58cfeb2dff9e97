import { beforeEach, expect, test, vi } from 'vitest'
import { METRIC_NAMES } from '../../../src/metrics/definitions/definitions.ts'
import { APPLE_ID, BUNDLE, renewedPayload } from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

let app: TestApp
beforeEach(async () => {
  app = await openTestApp({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }] })
  await app.notify(renewedPayload(app.authority))
})

type Headers = Record<string, string>
const request = (path: string, headers: Headers) => app.request(`/api/v1/${path}`, { headers })
const statusOf = async (path: string, headers: Headers) => (await request(path, headers)).status
const bearer = async (): Promise<Headers> => ({ authorization: `Bearer ${await app.token()}` })

/** A guest of a share link for everything. */
async function guest(): Promise<Headers> {
  return app.signIn(await linkToAll())
}

async function linkToAll(): Promise<string> {
  const { store, links } = app.windfall
  const link = {
    organization_id: null,
    apps: null,
    label: 'x',
    basis: 'gross',
    metrics: null,
    passcode: null,
  } as const
  const { id } = await store.commit(() => links.create({ ...link, expires_at: null }))
  return id
}

const QUESTIONS = [
  'metrics/revenue',
  'metrics/mrr.csv',
  'overview',
  'overview.csv',
  'cohorts?metric=ltv',
  'cohorts.csv?metric=retention',
  'customers',
  'customers.csv',
]

test('a token runs two queries at the same time, and a third when one is done', async () => {
  for (const path of QUESTIONS) {
    const mine = await bearer()
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => request(path, mine)))
    expect([first?.status, second?.status, third?.status], path).toEqual([200, 200, 429])
    expect(third?.headers.get('retry-after')).toBe('1')
    expect(await third?.json()).toMatchObject({ status: 429, code: 'too_many_questions' })
    await Promise.all([first?.text(), second?.text()])
    expect(await statusOf(path, mine), path).toBe(200)
  }
})

test('a CSV counts as running until it is read, failed or abandoned, separately for each caller', async () => {
  const mine = await bearer()
  const [first, second] = [await request('customers.csv', mine), await request('metrics/mrr.csv', mine)]
  expect(await statusOf('overview', mine)).toBe(429)
  expect(await statusOf('overview', await bearer())).toBe(200)
  expect(await statusOf('overview', await app.signIn())).toBe(200)
  // What costs next to nothing is not counted.
  expect([await statusOf('metrics', mine), await statusOf('apps', mine)]).toEqual([200, 200])
  await first.body?.cancel()
  expect(await statusOf('overview', mine)).toBe(200)
  await second.text()
  const head = await app.request('/api/v1/customers.csv', { method: 'HEAD', headers: mine })
  expect(head.status).toBe(200)
  for (let n = 0; n < 3; n += 1) expect(await statusOf('metrics/nothing', mine)).toBe(400)
  expect((await Promise.all([1, 2].map(() => statusOf('overview', mine)))).join()).toBe('200,200')
})

test('a guest’s page can send all its queries at the same time', async () => {
  const paths = [
    'overview',
    'cohorts?metric=retention',
    'cohorts?metric=ltv',
    'cohorts?metric=arppu',
    ...METRIC_NAMES.map((name) => `metrics/${name}`),
  ]
  const mine = await guest()
  const statuses = await Promise.all(paths.map((path) => statusOf(path, mine)))
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(paths.length).toBeGreaterThan(20)
})

test('two sessions of one link share its two slots', async () => {
  const id = await linkToAll()
  const [one, other] = [await app.signIn(id), await app.signIn(id)]
  const held = [await request('cohorts.csv?metric=retention', one), await request('metrics/mrr.csv', one)]
  let isAnswered = false
  const third = statusOf('overview', other).then((status) => {
    isAnswered = true
    return status
  })
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(isAnswered).toBe(false)
  await Promise.all(held.map((answer) => answer.text()))
  expect(await third).toBe(200)
})

test('the owner has no query limit', async () => {
  const mine = await app.signIn()
  const statuses = await Promise.all(Array.from({ length: 40 }, () => statusOf('metrics/mrr', mine)))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a guest’s queries wait at most ten seconds, in a bounded queue', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const mine = await guest()
    const held = [await request('overview.csv', mine), await request('overview.csv', mine)]
    const waiting = Array.from({ length: 65 }, () => statusOf('overview', mine))
    // The last one found no room to wait.
    expect(await waiting.at(-1)).toBe(429)
    await held[0]?.text()
    await Promise.all(waiting.slice(0, -1).map(async (status) => expect(await status).toBe(200)))

    const again = await request('overview.csv', mine)
    const late = statusOf('overview', mine)
    await new Promise(setImmediate)
    vi.advanceTimersByTime(9_999)
    expect(await Promise.race([late, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
    vi.advanceTimersByTime(1)
    expect(await late).toBe(429)
    await Promise.all([held[1]?.text(), again.text()])
    expect(await statusOf('overview', mine)).toBe(200)
  } finally {
    vi.useRealTimers()
  }
})
