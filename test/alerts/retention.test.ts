/** Messages and digests are kept for 400 days. */
import { expect, test } from 'vitest'
import { openAlertingApp, purchase } from './alerting.ts'

const DAY = 86_400_000

test('messages older than 400 days are deleted with their sends; those that wait and newer ones stay', async () => {
  const app = await openAlertingApp()
  const { store } = app.windfall
  await app.rule('sale', { per_hour: 1 })
  for (let number = 0; number < 3; number += 1) {
    await purchase({ app })
    await app.settle(3_000)
  }
  await app.settle(2 * 3_600_000)
  const count = (table: string) =>
    store.prepare<[], { n: number }>(`select count(*) as n from ${table}`).get()?.n
  // Three sales, and the summary of two of them.
  expect(count('alert_messages')).toBe(4)
  const [first] = app.alerts.history.list({ organization_id: null, before: null, limit: 10 }).slice(-1)
  await store.commit(() => {
    const send = app.alerts.messages.sendsOf(first?.id ?? '')[0]
    if (send) app.alerts.messages.change(send, { state: 'held', due_at: app.clock() + 500 * DAY })
  })
  app.clock.turn(399 * DAY)
  expect(await app.alerts.expire()).toBe(0)
  app.clock.turn(2 * DAY)
  expect(await app.alerts.expire()).toBe(3)
  expect([count('alert_messages'), count('alert_sends')]).toEqual([1, 1])
})

test('a milestone is reported once, also after 400 days', async () => {
  const app = await openAlertingApp()
  await app.rule('milestone')
  const { store, feed, metrics } = app.windfall
  const evaluate = async (ms: number): Promise<void> => {
    app.clock.turn(ms)
    await metrics.whenCurrent()
    await app.alerts.evaluate()
    await app.settle()
  }
  const subscribe = async (): Promise<void> => {
    for (let n = 0; n < 30; n += 1) await purchase({ app, type: 'SUBSCRIBED', subtype: 'INITIAL_BUY' })
  }
  await evaluate(0)
  await subscribe()
  await evaluate(0)
  await evaluate(3_600_000)
  expect(app.got()).toHaveLength(1)
  await evaluate(401 * DAY)
  await app.alerts.expire()
  // What the rule remembers begins again with another basis.
  await store.commit(() => store.prepare("delete from alert_memory where key = 'passed'").run())
  await evaluate(0)
  await subscribe()
  await evaluate(0)
  await evaluate(3_600_000)
  expect(feed.head()).toBeGreaterThan(60)
  expect(app.got()).toHaveLength(1)
})
