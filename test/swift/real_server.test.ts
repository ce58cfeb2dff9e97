/** The Swift SDK, in a process of its own, against the real server over a socket. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BUNDLE } from '../apple/samples.ts'
import { APP, authority } from '../attribution/devices/enrolled.ts'
import { STORM, STORM_ANSWERS } from '../sdk/weather.ts'
import { newInstall, openAppAttest, startProbe } from './probe.ts'
import { openServer } from './servers.ts'

const DAY_S = 86_400
/** The headers of a call: its own, and those of HTTP. */
const HEADERS = [
  'content-type',
  'x-windfall-unattested',
  'user-agent',
  'accept-language',
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'host',
]
const newKey = () => authority.device(APP)

test('a purchase before the login ends verified, with the user', async () => {
  const { url, user, signed } = await openServer()
  const app = startProbe(newInstall())
  app.send({ do: 'purchase', originalTransactionId: '71', productId: 'pro', jws: signed('71') })
  app.send({ do: 'configure', url, bundleId: BUNDLE })
  app.send({ do: 'identify', userId: 'ann', attributes: { plan: 'pro', age: 3, beta: true, gone: null } })
  await app.flush()
  expect(await app.state()).toMatchObject({ queue: 0, refused: 0, lastAnswer: '200', storage: 'ok' })
  const ann = JSON.stringify(await user('ann'))
  for (const part of ['"plan":"pro"', '"verification":"verified"', '"iPhone18,1"'])
    expect(ann).toContain(part)
})

test('what was called on a day offline arrives after a restart, in order', async () => {
  const { url, user, signed, network } = await openServer()
  const install = newInstall()
  network.setWeather([], 'down')
  const offline = startProbe(install)
  offline.send({ do: 'configure', url, bundleId: BUNDLE })
  offline.send({ do: 'purchase', originalTransactionId: '72', productId: 'pro', jws: signed('72') })
  offline.send({ do: 'identify', userId: 'ann', attributes: { step: 1 } })
  offline.send({ do: 'purchase', originalTransactionId: '73', productId: 'pro', jws: signed('73') })
  offline.send({ do: 'setAttributes', attributes: { step: 2 } })
  await offline.flush()
  expect(await offline.state()).toMatchObject({ queue: 5, lastAnswer: 'no connection' })
  await offline.kill()

  network.setWeather([])
  const next = startProbe(install, { ahead: DAY_S })
  next.send({ do: 'configure', url, bundleId: BUNDLE })
  await next.flush()
  expect(await next.state()).toMatchObject({ queue: 0, refused: 0, appUserId: 'ann' })
  const ann = JSON.stringify(await user('ann'))
  expect(ann).toContain('"step":2')
  for (const id of ['72', '73']) expect(ann).toContain(`"${id}"`)
})

test('a storm of 429 and a captive portal delay calls, and redirects are not followed', async () => {
  const { url, user, network } = await openServer()
  network.setWeather(STORM)
  const app = startProbe(newInstall())
  app.send({ do: 'configure', url, bundleId: BUNDLE })
  // The page of the portal has that status, too.
  let answers = 0
  const accepted = app.next('debug', ({ debug }) => debug === 'identify for ann: 200' && ++answers === 2)
  app.send({ do: 'identify', userId: 'ann', attributes: { plan: 'pro' } })
  await accepted
  expect(await app.state()).toMatchObject({ queue: 0, refused: 0, lastAnswer: '200' })
  expect(network.paths).toEqual(Array<string>(6).fill('/api/sdk/v1/identify'))
  expect(app.lines.flatMap(({ debug }) => (debug === undefined ? [] : [debug]))).toEqual(
    STORM_ANSWERS.map((answer) => `identify for ann: ${answer}`),
  )
  expect(JSON.stringify(await user('ann'))).toContain('"plan":"pro"')
  // Nothing of the portal is kept, and nothing names the app, its build or the languages of the user.
  for (const headers of network.headers) {
    expect(headers).toMatchObject({ 'user-agent': 'windfall-swift', 'accept-language': 'en' })
    expect(Object.keys(headers).filter((name) => !HEADERS.includes(name))).toEqual([])
  }
})

test('of two users of one device each has their own purchases', async () => {
  const { url, signed, rows } = await openServer()
  const app = startProbe(newInstall())
  app.send({ do: 'configure', url, bundleId: BUNDLE })
  app.send({ do: 'identify', userId: 'ann' })
  app.send({ do: 'purchase', originalTransactionId: '74', productId: 'pro', jws: signed('74') })
  app.send({ do: 'reset' })
  app.send({ do: 'observe', originalTransactionId: '74', productId: 'pro', jws: signed('74') })
  app.send({ do: 'identify', userId: 'bob' })
  app.send({ do: 'purchase', originalTransactionId: '75', productId: 'pro', jws: signed('75') })
  await app.flush()
  expect(rows('select app_user_id, transaction_id from links order by id')).toEqual([
    { app_user_id: 'ann', transaction_id: '74' },
    { app_user_id: 'bob', transaction_id: '75' },
  ])
})

test('a process that is killed in the middle of writes loses no call that was stored', async () => {
  const { url, network } = await openServer()
  const install = newInstall()
  let stored = 0
  network.setWeather([], 'down')
  for (const kill of [1, 7, 20, 33]) {
    const app = startProbe(install)
    app.send({ do: 'configure', url, bundleId: BUNDLE })
    const reached = app.next('stored', (line) => line.stored === stored + kill)
    app.send({ do: 'purchases', first: stored + 1, count: 100 })
    await reached
    await app.kill()
    stored = Math.max(...app.lines.map((line) => Number(line.stored ?? 0)))
  }
  const half = join(install, 'queue', 'q.000000000001.0000.ffffffff.next')
  writeFileSync(half, '{"call":"ident')

  const app = startProbe(install)
  app.send({ do: 'configure', url, bundleId: BUNDLE })
  const { ids, refused } = await app.state()
  expect(refused).toBe(0)
  // A call that was stored, but whose process was killed before it said so, was made again.
  const numbers = [...new Set(ids.split(' ').map(Number))]
  expect(numbers).toEqual(Array.from({ length: Math.max(stored, ...numbers) }, (_, at) => at + 1))
  expect(readdirSync(join(install, 'queue')).filter((name) => name.endsWith('.next'))).toEqual([])
})

for (const [form, details] of [
  ['as before iOS 27', undefined],
  [
    'as of iOS 27',
    new Map<string, string | Uint8Array>([
      ['apple_bundle_version_01', '412'],
      ['apple_validation_category_01', new Uint8Array([4, 0, 0, 0])],
    ]),
  ],
] as const)
  test(`a device enrols once and signs its calls, ${form}`, async () => {
    const { url, user, rows } = await openServer({ WINDFALL_ATTEST_ASSERTIONS: 'required' })
    const install = newInstall()
    const appAttest = openAppAttest(newKey, details)
    for (const plan of ['free', 'pro']) {
      const app = startProbe(install, { appAttest })
      app.send({ do: 'configure', url, bundleId: BUNDLE })
      app.send({ do: 'identify', userId: 'ann', attributes: { plan } })
      await app.flush()
      expect(await app.state()).toMatchObject({ queue: 0, lastAnswer: '200' })
      await app.kill()
    }
    const ann = JSON.stringify(await user('ann'))
    expect(ann).toContain('"proved_attributes":{"plan":"pro"}')
    expect(ann).toContain('"verification":"verified"')
    expect(rows('select counter, category from devices')).toEqual([
      { counter: 2, category: details ? 4 : null },
    ])
  })

test('a device that lost its keys enrols again', async () => {
  const { url, rows } = await openServer({ WINDFALL_ATTEST_ASSERTIONS: 'required' })
  const install = newInstall()
  const appAttest = openAppAttest(newKey)
  for (const userId of ['ann', 'bob']) {
    const app = startProbe(install, { appAttest })
    app.send({ do: 'configure', url, bundleId: BUNDLE })
    app.send({ do: 'identify', userId })
    await app.flush()
    expect(await app.state()).toMatchObject({ queue: 0, lastAnswer: '200' })
    await app.kill()
    appAttest.lose()
  }
  expect(rows('select counter from devices')).toEqual([{ counter: 1 }, { counter: 1 }])
  expect(rows("select verification from users where app_user_id = 'bob'")).toEqual([
    { verification: 'verified' },
  ])
})
