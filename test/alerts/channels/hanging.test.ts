/** Channels that hang or fail, beside channels that work: what is due on one waits for no other. */
import { expect, test } from 'vitest'
import { type AlertingApp, openAlertingApp, purchase } from '../alerting.ts'
import { openTalking } from './talking.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Sends what is due without waiting for the calls that hang. */
async function begin(app: AlertingApp): Promise<void> {
  await app.alerts.follow()
  app.clock.turn(2 * SECOND)
  app.alerts.wake()
}

test.each([
  ['more channels that hang than any fixed number of places', 70, 2],
  ['one channel that hangs, with more messages than a slice', 1, 120],
])('a message is sent while older ones hang: %s', async (_, count, messages) => {
  const app = await openAlertingApp()
  const phone = app.alerts.channels.list().map(({ id }) => id)
  const silent = await openTalking()
  const hanging: string[] = []
  for (let n = 0; n < count; n += 1)
    hanging.push(
      (await app.channel(`hangs ${n}`, { settings: { url: `http://127.0.0.1:${silent.port}/${n}` } })).id,
    )
  const first = await app.rule('sale', {}, { channels: hanging })
  for (let n = 0; n < messages; n += 1) await purchase({ app })
  await begin(app)
  await expect.poll(() => silent.sockets.length).toBe(count)
  await app.windfall.store.commit(() => app.alerts.rules.put({ ...first, is_on: false }))
  await app.rule('sale', {}, { channels: phone })
  await purchase({ app })
  await begin(app)
  await expect.poll(() => app.got().length).toBe(1)
  expect(silent.sockets.filter(({ closed }) => closed)).toEqual([])
  expect(silent.sockets).toHaveLength(count)
  silent.release()
  await app.alerts.settled()
})

/** A channel that is down, with five messages that wait for it. */
async function openDown() {
  const app = await openAlertingApp()
  await app.rule('sale')
  app.receiver.behave(() => 503)
  for (let n = 0; n < 5; n += 1) await purchase({ app, transaction: { price: 1_000 * (n + 1) } })
  await app.settle(2 * SECOND)
  const repair = () => app.receiver.behave(() => 200)
  return Object.assign(app, { repair })
}

const amounts = (app: AlertingApp): string[] =>
  app.got().map(({ title }) => /\$\d\.\d\d/.exec(title)?.[0] ?? title)
const IN_ORDER = ['$1.00', '$2.00', '$3.00', '$4.00', '$5.00']

test('after a failure of a channel, one message tries it again, and the others wait and keep their order', async () => {
  const app = await openDown()
  expect(app.got()).toHaveLength(1)
  await app.settle(5 * SECOND)
  expect(app.got()).toHaveLength(2)
  await app.settle(9 * SECOND)
  expect(app.got()).toHaveLength(2)
  app.repair()
  await app.settle(1 * SECOND)
  expect(amounts(app).slice(2)).toEqual(IN_ORDER)
})

test('messages that their provider never takes do not hold the others up', async () => {
  const app = await openDown()
  app.receiver.behave(({ body }) => (/\$[123]\.00/.test(body) ? 503 : 200))
  for (let n = 0; n < 7 * 60; n += 1) await app.settle(SECOND)
  expect(amounts(app)).toEqual(expect.arrayContaining(IN_ORDER))
})

test.each([
  [
    'its owner changes it',
    (app: AlertingApp, id: string) =>
      app.windfall.store.commit(() => app.alerts.channelAdministration.change(id, { name: 'renamed' })),
  ],
  [
    'a test reaches it',
    async (app: AlertingApp, id: string) => {
      const channel = app.alerts.channels.get(id)
      if (channel) await app.alerts.test(channel)
    },
  ],
])('a channel that failed is used again at once when %s', async (_, act) => {
  const app = await openDown()
  for (let n = 0; n < 4; n += 1) await app.settle(MINUTE)
  const [phone] = app.alerts.channels.list()
  app.repair()
  await act(app, phone?.id ?? '')
  const before = app.got().length
  await purchase({ app, transaction: { price: 9_000 } })
  await app.settle(2 * SECOND)
  expect(amounts(app).slice(before)).toContain('$9.00')
})
