/** Summaries while other messages join them, after long mutes, and while their provider does not answer. */
import { expect, test } from 'vitest'
import { openAlertingApp, purchase } from './alerting.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('a message that joins a summary in the round that sends it again is told by it', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  app.receiver.behave(() => 503)
  await purchase({ app })
  await app.settle(2_000)
  await app.settle(31 * MINUTE)
  await app.settle()
  expect(app.got().at(-1)).toMatchObject({ title: '📬 1 sale · $4.99' })
  await purchase({ app })
  await app.settle(2_000)
  app.receiver.behave(() => 200)
  await app.settle(31 * MINUTE)
  await app.settle(MINUTE)
  expect(app.got().at(-1)).toMatchObject({ title: '📬 2 sales · $9.98' })
})

test('a summary of a mute for days is tried again after a failure', async () => {
  const app = await openAlertingApp()
  const muted_until = app.clock() + 48 * HOUR
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { muted_until }))
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  app.receiver.behave(() => 503)
  await app.settle(48 * HOUR)
  expect(app.got()).toHaveLength(1)
  app.receiver.behave(() => 200)
  await app.settle(MINUTE)
  expect(app.got()).toHaveLength(2)
})

test('a mute that is made longer ends with one summary', async () => {
  const app = await openAlertingApp()
  const { organization, alerts, windfall } = app
  const mute = (muted_until: number) =>
    windfall.store.commit(() => alerts.changeSettings(organization.id, { muted_until }))
  await mute(app.clock() + HOUR)
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  await mute(app.clock() + 2 * HOUR)
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got()).toEqual([])
  await app.settle(2 * HOUR)
  await app.settle(HOUR)
  expect(app.got()).toMatchObject([{ title: '📬 2 sales · $9.98' }])
})

test('more digests than a slice that wait for weeks hold up nothing, and are sent after the mute', async () => {
  const app = await openAlertingApp()
  const { organization, alerts, clock, windfall } = app
  const muted_until = clock() + 30 * 24 * HOUR
  const [phone] = alerts.channels.list()
  await windfall.store.commit(() => {
    alerts.settings.change(organization.id, { muted_until })
    for (let n = 0; n < 250; n += 1) {
      const subject = { about: 'device', name: `tablet ${n}` } as const
      const fields = { rule_id: null, kind: 'digest', content: { subject }, happened_at: clock() }
      const message = alerts.messages.add({ ...fields, organization_id: organization.id, key: `digest/${n}` })
      if (message !== null) alerts.messages.addSend(message.id, phone?.id ?? '', clock())
    }
  })
  const waiting = windfall.store.prepare('select count(*) as count from alert_sends where due_at = ?')
  await app.settle(1_000)
  expect(waiting.get(muted_until)).toEqual({ count: 250 })
  await app.settle(30 * 24 * HOUR)
  expect(app.got()).toHaveLength(250)
})

test('a summary that waits for weeks is not written again each second', async () => {
  const app = await openAlertingApp()
  const muted_until = app.clock() + 20 * 24 * HOUR
  await app.windfall.store.commit(() => app.alerts.settings.change(app.organization.id, { muted_until }))
  await app.rule('sale')
  await purchase({ app })
  await app.settle(2_000)
  await app.settle(1_000)
  const changes = () => app.windfall.store.prepare<[], { n: number }>('select total_changes() as n').get()?.n
  const before = changes()
  await app.settle(1_000)
  expect(changes()).toBe(before)
})

test('what is recovered in the course of minutes is one summary', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  for (let n = 0; n < 5; n += 1) {
    await purchase({ app, signed_at: app.clock() - 5 * HOUR })
    await app.settle(40_000)
  }
  expect(app.got()).toEqual([])
  await app.settle(MINUTE)
  await app.settle(MINUTE)
  expect(app.got()).toMatchObject([{ title: '📬 5 sales · $24.95' }])
})
