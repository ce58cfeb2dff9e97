/** The core of the Android SDK, in a process of its own, against the real server in another, over sockets. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOf } from '../processes.ts'
import { STORM, STORM_ANSWERS } from '../sdk/weather.ts'
import { startProbe } from './probe.ts'
import { ANDROID, IOS, openServer, SAME } from './server.ts'

const DAY_S = 86_400

const purchase = (purchaseToken: string) => ({ do: 'attributePurchase', purchaseToken, productId: 'pro' })
const bought = (transaction_id: string, app_user_id: string, bundle_id = SAME) => ({
  bundle_id,
  store: 'google',
  transaction_id,
  product_id: 'pro',
  app_user_id,
})

test('a purchase before the login ends with the user', async () => {
  const { url, users, purchases } = await openServer()
  const app = startProbe(folderOf())
  app.send(purchase('token.1'))
  app.send({ do: 'configure', url, bundleId: SAME })
  const attributes = { plan: 'pro', age: 3, share: 0.5, beta: true, gone: null, name: 'Zoë \u{1f600}\n"\\' }
  app.send({ do: 'identify', userId: 'ann', attributes })
  await app.flush()
  expect(await app.state()).toMatchObject({ queue: 0, refused: [], lastAnswer: '200', isStored: true })
  expect(users()).toMatchObject([{ app_user_id: 'ann', platform: 'android', device_model: 'Pixel 9' }])
  expect(JSON.parse(String(users()[0]?.attributes))).toEqual(attributes)
  expect(purchases()).toEqual([bought('token.1', 'ann')])
})

test('what was called on a day offline arrives after a restart, in order', async () => {
  const { url, users, purchases, network } = await openServer()
  const install = folderOf()
  network.setWeather([], 'down')
  const offline = startProbe(install)
  offline.send({ do: 'configure', url, bundleId: SAME })
  offline.send(purchase('token.1'))
  offline.send({ do: 'identify', userId: 'ann', attributes: { step: 1 } })
  offline.send(purchase('token.2'))
  offline.send({ do: 'setAttributes', attributes: { step: 2 } })
  await offline.flush()
  expect(await offline.state()).toMatchObject({ queue: 5, lastAnswer: 'no connection', isStored: true })
  await offline.kill()

  network.setWeather([])
  const next = startProbe(install, { ahead: DAY_S })
  next.send({ do: 'configure', url, bundleId: SAME })
  await next.flush()
  expect(await next.state()).toMatchObject({ queue: 0, refused: [], appUserId: 'ann' })
  expect(users()).toMatchObject([{ app_user_id: 'ann', attributes: '{"step":2}' }])
  expect(purchases()).toEqual([bought('token.1', 'ann'), bought('token.2', 'ann')])
})

test('a storm of 429 and a captive portal delay calls, and redirects are not followed', async () => {
  const { url, users, network } = await openServer()
  network.setWeather(STORM)
  const app = startProbe(folderOf())
  app.send({ do: 'configure', url, bundleId: SAME })
  // The page of the portal has that status, too.
  let answers = 0
  const accepted = app.next('debug', ({ debug }) => debug === 'identify for ann: 200' && ++answers === 2)
  app.send({ do: 'identify', userId: 'ann', attributes: { plan: 'pro' } })
  await accepted
  expect(await app.state()).toMatchObject({ queue: 0, refused: [], lastAnswer: '200' })
  expect(network.paths).toEqual(Array<string>(6).fill('/api/sdk/v1/identify'))
  expect(app.debugLines()).toEqual(STORM_ANSWERS.map((answer) => `identify for ann: ${answer}`))
  expect(users()).toMatchObject([{ attributes: '{"plan":"pro"}' }])
})

test('of two users of one device each has their own purchases', async () => {
  const { url, users, purchases } = await openServer()
  const app = startProbe(folderOf())
  app.send({ do: 'configure', url, bundleId: SAME })
  app.send({ do: 'identify', userId: 'ann' })
  app.send(purchase('token.1'))
  app.send({ do: 'reset' })
  app.send({ ...purchase('token.1'), do: 'observe' })
  app.send({ do: 'identify', userId: 'bob' })
  app.send(purchase('token.2'))
  await app.flush()
  expect(purchases()).toEqual([bought('token.1', 'ann'), bought('token.2', 'bob')])
  expect(users().map(({ app_user_id }) => app_user_id)).toEqual(['ann', 'bob'])
  // Play lists the purchases of its account for each user of the app, and the server keeps the last.
  app.send({ ...purchase('token.1'), do: 'observe' })
  await app.flush()
  expect(purchases()[0]).toEqual(bought('token.1', 'bob'))
})

test('an application id that is the bundle id, and one that is not, lead to their apps', async () => {
  const { url, purchases } = await openServer()
  for (const [at, bundleId] of [SAME, ANDROID, IOS].entries()) {
    const app = startProbe(folderOf())
    app.send({ do: 'configure', url, bundleId })
    app.send({ do: 'identify', userId: `user-${at}` })
    app.send(purchase(`token.${at}`))
    await app.flush()
    expect(await app.state()).toMatchObject({ queue: 0, lastAnswer: '200' })
  }
  expect(purchases()).toEqual([
    bought('token.0', 'user-0'),
    bought('token.1', 'user-1', IOS),
    bought('token.2', 'user-2', IOS),
  ])
})

test('the calls of an app that the server does not know wait, and hold up no others', async () => {
  const { url, purchases } = await openServer()
  const app = startProbe(folderOf())
  app.send({ do: 'configure', url, bundleId: 'com.example.unknown' })
  app.send(purchase('token.1'))
  await app.flush()
  expect(await app.state()).toMatchObject({ queue: 1, refused: [], lastAnswer: '404 unknown_app' })
  expect(purchases()).toEqual([])
  // What waits there does not hold up another destination.
  app.send({ do: 'configure', url, bundleId: SAME })
  app.send(purchase('token.2'))
  await app.flush()
  expect(await app.state()).toMatchObject({ queue: 1, tokens: ['token.1'] })
  expect(purchases()).toMatchObject([{ transaction_id: 'token.2' }])
})

test('a process that is killed in the middle of writes loses no call that was stored', async () => {
  const { url, network, purchases } = await openServer()
  const install = folderOf()
  let stored = 0
  network.setWeather([], 'down')
  for (const kill of [1, 7, 20, 33]) {
    const app = startProbe(install)
    app.send({ do: 'configure', url, bundleId: SAME })
    const reached = app.next('done', ({ purchaseToken }) => purchaseToken === `${stored + kill}`)
    for (let number = stored + 1; number <= stored + 100; number += 1) app.send(purchase(`${number}`))
    await reached
    await app.kill()
    stored = Math.max(...app.lines.map(({ purchaseToken = 0 }) => Number(purchaseToken)))
  }
  writeFileSync(join(install, 'q.000000000001.0000.ffffffff.next'), '{"call":"ident')

  const app = startProbe(install)
  app.send({ do: 'configure', url, bundleId: SAME })
  await app.flush()
  const { tokens, refused } = await app.state()
  expect(refused).toEqual([])
  // A call that was stored, but whose process was killed before it said so, was made again.
  const numbers = [...new Set(tokens.map(Number))]
  const all = Array.from({ length: Math.max(stored, ...numbers) }, (_, at) => at + 1)
  expect(numbers).toEqual(all)
  expect(readdirSync(install).filter((name) => name.endsWith('.next'))).toEqual([])
  network.setWeather([])
  await app.flush()
  expect(purchases().map(({ transaction_id }) => Number(transaction_id))).toEqual(all)
})
