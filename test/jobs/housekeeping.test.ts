import { beforeEach, expect, test } from 'vitest'
import { openClockCheck } from '../../src/store/clock_check.ts'
import { BUNDLE, dataBody, outerPayload } from '../apple/samples.ts'
import { openForwardingApp, openHttpReceiver } from '../forwarding/receiving.ts'
import { handClock, openTestApp, type TestApp } from '../helpers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let app: TestApp
beforeEach(async () => {
  app = await openTestApp({ env: { WINDFALL_RATES_FETCH: 'false' } })
})

const keepHouse = async () => (await app.windfall.jobs.runNow('housekeeping')).outcome
const UNSURE = 'nothing was deleted by age: the clock is more than a day ahead of the last run'

async function leaveSomethingBehind(): Promise<void> {
  await app.notify(
    outerPayload(dataBody({ bundleId: 'com.example.unknown' }), {
      notificationType: 'TEST',
      notificationUUID: 'one',
    }),
  )
  await app.signIn()
}

const left = () => ({
  pending: app.windfall.arrivals.pending.list().length,
  sessions: app.windfall.store.prepare('select count(*) from sessions').pluck().get(),
})

test('deletes no notifications or sessions when the clock jumps ahead and back', async () => {
  await leaveSomethingBehind()
  await keepHouse()
  app.clock.turn(400 * DAY)
  expect(await keepHouse()).toBe(UNSURE)
  // A sign-in while the clock is wrong ends no other session.
  await app.signIn()
  app.clock.turn(30 * MINUTE)
  expect(await keepHouse()).toBe(UNSURE)
  app.clock.turn(-400 * DAY)
  expect(await keepHouse()).toBe('deleted 0 expired pending notifications')
  expect(left()).toEqual({ pending: 1, sessions: 2 })
})

test('deletes expired notifications an hour after the start of a server that was off for a month', async () => {
  await leaveSomethingBehind()
  await keepHouse()
  app.clock.turn(100 * DAY)
  expect(await keepHouse()).toBe(UNSURE)
  app.clock.turn(HOUR)
  expect(await keepHouse()).toBe('deleted 1 expired pending notification')
  expect(left()).toEqual({ pending: 0, sessions: 0 })
})

test('stores the time of the last check, and checks a clock that jumped for another hour', async () => {
  const { store } = app.windfall
  const clock = handClock()
  const monotonic = handClock(0)
  const pass = (ms: number) => {
    clock.turn(ms)
    monotonic.turn(ms)
  }
  const before = openClockCheck(store, clock, monotonic)
  expect(await store.commit(before.isTrusted)).toBe(true)
  clock.turn(2 * DAY)
  const { isTrusted } = openClockCheck(store, clock, monotonic)
  expect(await store.commit(isTrusted)).toBe(false)
  pass(30 * MINUTE)
  clock.turn(5 * DAY)
  expect(await store.commit(isTrusted)).toBe(false)
  pass(30 * MINUTE)
  expect(await store.commit(isTrusted)).toBe(false)
  pass(30 * MINUTE)
  expect(await store.commit(isTrusted)).toBe(true)
})

test('updates the statistics of the tables without samples of their values', async () => {
  const { store } = app.windfall
  const identify = (appUserId: string) => app.post('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE })
  for (let user = 0; user < 20; user += 1) await identify(`user-${user}`)
  await keepHouse()
  const rows = store.prepare("select stat from sqlite_stat1 where tbl = 'users'").pluck()
  expect(rows.all()).toEqual(['20 20 1'])
  expect(store.prepare('select count(*) from sqlite_stat4').pluck().get()).toBe(0)
  for (let user = 20; user < 220; user += 1) await identify(`user-${user}`)
  await keepHouse()
  expect(rows.all()).toEqual(['220 220 1'])
})

test('deletes deliveries after 90 days, unless the clock may be wrong', async () => {
  const receiver = await openHttpReceiver()
  const forwarding = await openForwardingApp({ env: { WINDFALL_RATES_FETCH: 'false' } })
  const { windfall, clock } = forwarding
  await forwarding.addEndpoint(receiver.url)
  await forwarding.append(1)
  await forwarding.settled()
  const deliveries = () => windfall.store.prepare('select count(*) from deliveries').pluck().get()
  const outcome = async () => (await windfall.jobs.runNow('housekeeping')).outcome
  await outcome()
  clock.turn(91 * DAY)
  expect(await outcome()).toBe(UNSURE)
  expect(deliveries()).toBe(1)
  clock.turn(HOUR)
  expect(await outcome()).toContain('deleted 1 delivery of webhooks')
  expect(deliveries()).toBe(0)
})
