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
