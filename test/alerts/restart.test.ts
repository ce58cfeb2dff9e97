/** The gap between the call of a provider and the commit of its result: a message under way is sent once more. */
import { cpSync } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../folders.ts'
import { openTestApp } from '../helpers.ts'
import { openAlertingApp, purchase } from './alerting.ts'

test('a message that a stop interrupts is sent once more after the start, with the same id and text', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  const arrived = new Promise<void>((resolve) => {
    app.receiver.behave(() => {
      resolve()
      return undefined
    })
  })
  await purchase({ app })
  await app.alerts.follow()
  app.clock.turn(2_000)
  app.alerts.wake()
  await arrived
  await app.windfall.close()
  app.receiver.behave(() => 200)
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  const again = await openTestApp({ folder: app.folder, clock: app.clock, env })
  const { alerts } = again.windfall
  await alerts.start()
  alerts.wake()
  await alerts.settled()
  const [first, second] = app.got()
  expect(second).toEqual(first)
  expect(app.got()).toHaveLength(2)
  app.clock.turn(86_400_000)
  alerts.wake()
  await alerts.settled()
  expect(app.got()).toHaveLength(2)
  const sends = again.windfall.store.prepare('select state, attempts, words from alert_sends').all()
  expect(sends).toEqual([{ state: 'sent', attempts: 2, words: null }])
})

test('a stop begins no further messages and waits for those under way, so none is sent twice', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  app.receiver.behave((_, response) => {
    setTimeout(() => response.end('{}'), 20)
    return undefined
  })
  for (let number = 0; number < 30; number += 1) await purchase({ app })
  await app.alerts.follow()
  app.clock.turn(2_000)
  app.alerts.wake()
  await expect.poll(() => app.got().length).toBeGreaterThan(0)
  await app.windfall.close()
  expect(app.got().length).toBeLessThan(30)
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1' }
  const again = await openTestApp({ folder: app.folder, clock: app.clock, env })
  const { alerts } = again.windfall
  await alerts.start()
  await expect.poll(() => app.got().length).toBeGreaterThanOrEqual(30)
  await alerts.settled()
  const ids = app.got().map(({ id }) => id)
  expect([ids.length, new Set(ids).size]).toEqual([30, 30])
})

test('after a crash, a rule that was changed does not report the past', async () => {
  const app = await openAlertingApp()
  const rule = await app.rule('sale', { minimum_milli: 1_000_000 })
  for (let number = 0; number < 3; number += 1) await purchase({ app })
  await app.settle(2_000)
  await app.windfall.store.commit(() =>
    app.alerts.ruleAdministration.change(rule.id, { settings: { minimum_milli: null } }),
  )
  await app.settle(2_000)
  expect(app.got()).toEqual([])
  const copy = temporaryFolder()
  cpSync(app.folder, copy.path, { recursive: true })
  const again = await openAlertingApp({ folder: copy.path, clock: app.clock })
  await again.settle(2_000)
  await again.settle(2_000)
  expect(again.got()).toEqual([])
})
