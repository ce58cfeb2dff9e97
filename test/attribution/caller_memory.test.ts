/** Who called on earlier days, across restarts. */
import { expect, test } from 'vitest'
import { openFairWindow, type WindowCaller } from '../../src/attribution/fair_window.ts'
import { clientAt } from '../../src/http/clients/client.ts'
import { temporaryFolder } from '../folders.ts'
import { handClock, openTestApp } from '../helpers.ts'

const DAY = 86_400_000
const LIMIT = 20

const from = (address: string, isProved = false): WindowCaller => ({
  client: clientAt(address),
  isProved,
  isExempt: isProved,
})
const CUSTOMER = from('198.51.100.7')
const BACKEND = from('192.0.2.1', true)

test('a restart does not forget who called on earlier days', async () => {
  const { path: folder } = temporaryFolder()
  const clock = handClock()
  const open = async () => {
    const app = await openTestApp({ folder, clock, apps: [] })
    const { callerMemory } = app.windfall
    const window = openFairWindow(() => LIMIT, clock, callerMemory)
    const admits = (caller: WindowCaller): boolean => {
      try {
        window.admit('org', caller)
        return true
      } catch {
        return false
      }
    }
    return { app, callerMemory, admits }
  }
  const first = await open()
  expect([first.admits(BACKEND), first.admits(CUSTOMER)]).toEqual([true, true])
  clock.turn(DAY)
  await first.app.windfall.jobs.runNow('housekeeping')
  await first.app.close()
  clock.turn(DAY / 2)

  const second = await open()
  const { networks, provedAt } = second.callerMemory
  expect([networks.isKnown(CUSTOMER.client.network), networks.isKnown('203.0.113.0/24')]).toEqual([
    true,
    false,
  ])
  expect(provedAt.get('org')).toBe(clock() - 1.5 * DAY)
  expect(second.admits(BACKEND)).toBe(true)
  await second.app.close()

  const third = await open()
  const strangers = Array.from({ length: LIMIT }, (_, n) => third.admits(from(`203.0.${n}.1`)))
  expect(strangers.filter(Boolean).length).toBe(LIMIT - LIMIT / 10)
  await third.app.close()
})

test('the memory is written once a day', async () => {
  const app = await openTestApp()
  const { jobs, store } = app.windfall
  const writtenAt = store
    .prepare<[], number>("select value ->> 'at' from settings where key = 'caller_memory'")
    .pluck()
  const began_at = app.clock()
  for (const [turned, expected] of [
    [0, 0],
    [DAY / 24, 0],
    [(23 * DAY) / 24, DAY],
  ] as const) {
    app.clock.turn(turned)
    await jobs.runNow('housekeeping')
    expect(writtenAt.get()).toBe(began_at + expected)
  }
})

test('the memory that is written is bounded', async () => {
  const app = await openTestApp()
  const { callerMemory, store } = app.windfall
  for (let n = 0; n < 20_000; n += 1) callerMemory.networks.note(`10.${n >> 8}.${n & 255}.0/24`)
  await store.commit(callerMemory.writeDaily)
  const text = store
    .prepare<[], { value: string }>("select value from settings where key = 'caller_memory'")
    .get()
  expect(text?.value.length).toBeLessThan(100_000)
})
