import { beforeAll, expect, test } from 'vitest'
import { openRevocations } from '../src/access/revocations.ts'
import type { Windfall } from '../src/app.ts'
import { openHook } from '../src/hooks.ts'
import { DAY, NOW, openLate } from './metrics/reports/late_connection.ts'

test('listeners are called in the order they were added, until they are removed', () => {
  const hook = openHook<[text: string, times: number], string>()
  expect(hook.call('a', 1)).toEqual([])
  const repeat = (text: string, times: number) => text.repeat(times)
  const remove = hook.add(repeat)
  hook.add((text) => text.toUpperCase())
  hook.add(repeat)
  expect(hook.call('a', 2)).toEqual(['aa', 'A', 'aa'])
  remove()
  remove()
  expect(hook.call('a', 2)).toEqual(['A', 'aa'])
})

test('adding or removing a listener during a call takes effect with the next call', () => {
  const hook = openHook<[], number>()
  const remove = hook.add(() => {
    remove()
    hook.add(() => 3)
    return 1
  })
  hook.add(() => 2)
  expect(hook.call()).toEqual([1, 2])
  expect(hook.call()).toEqual([2, 3])
})

test('throws the error of a listener and does not call the listeners after it', () => {
  const hook = openHook<[]>()
  let calls = 0
  hook.add(() => {
    throw new Error('full')
  })
  hook.add(() => {
    calls += 1
  })
  expect(hook.call).toThrow('full')
  expect(calls).toBe(0)
})

type Heard = () => void
/** Adds a listener to each hook. The results of the listeners have no effect. */
const HOOKS = {
  'feed.listen': ({ feed }, heard) => feed.listen(heard),
  'live.complete': ({ live }, heard) =>
    live.complete({
      ready: () => Promise.resolve(true),
      complete: (events) => {
        heard()
        return events
      },
    }),
  'ledger.onChange': ({ ledger }, heard) => ledger.onChange(heard),
  'ledger.describe': ({ ledger }, heard) =>
    ledger.extendSnapshot(() => {
      heard()
      return {}
    }),
  'ledger.withhold': ({ ledger }, heard) =>
    ledger.redactTokens(() => {
      heard()
      return false
    }),
  'products.onPeriod': ({ products }, heard) => products.onPeriod(heard),
  'catalogue.onConnected': ({ catalogue }, heard) => catalogue.onConnected(async () => heard()),
  'rates.onChange': ({ rates }, heard) => rates.onChange(heard),
  'imports.onDay': ({ imports }, heard) => imports.onDay(heard),
  'imports.onJoin': ({ imports }, heard) => imports.onAppsLinked(heard),
  'reported.onPrices': ({ reported }, heard) => reported.onPrices(heard),
  'reported.onSummed': ({ reported }, heard) => reported.onSummed(heard),
  'reported.holdCutovers': ({ reported }, heard) =>
    reported.holdCutovers(() => {
      heard()
      return false
    }),
  'forgetting.onForget': ({ erasures }, heard) => erasures.onErase(heard),
} satisfies Record<string, (windfall: Windfall, heard: Heard) => unknown>

/** The number of calls of the two listeners of each hook. */
const calls = new Map<string, [first: number, second: number]>()

/** Triggers every hook: notifications, imports, a newly connected app, rates, and the erasure of a user. */
beforeAll(async () => {
  const connected = NOW - 3 * DAY
  const late = await openLate({ subscribers: 60, from: NOW - 60 * DAY, connected, apps_known: 2 })
  const { windfall } = late
  for (const [name, add] of Object.entries(HOOKS)) {
    const counts: [number, number] = [0, 0]
    calls.set(name, counts)
    for (const at of [0, 1] as const)
      add(windfall, () => {
        counts[at] += 1
      })
  }
  windfall.live.watch({ wants: () => true, send: () => {} })
  await windfall.rates.refresh(new AbortController().signal)
  await late.importAll(10)
  await windfall.catalogue.refresh(late.organization.id)
  await late.importAll(10)
  await late.live(NOW)
  await windfall.reported.evaluateCutovers()
  await windfall.store.commit(() =>
    windfall.erasures.erase({
      app_id: late.apps[0]?.id ?? '',
      app_user_id: 'ann',
      asked_by: 'test',
      even_unknown: true,
    }),
  )
  await late.close()
})

test.each(Object.keys(HOOKS))('a second listener of %s is called as often as the first', (name) => {
  const [first, second] = calls.get(name) ?? []
  expect(first).toBeGreaterThan(0)
  expect(second).toBe(first)
})

test('calls every watcher of revocations until it stops watching', () => {
  const endings = openRevocations()
  const calls: string[] = []
  const stop = endings.watch(() => void calls.push('first'))
  endings.watch(() => void calls.push('second'))
  endings.notify()
  stop()
  endings.notify()
  expect(calls).toEqual(['first', 'second', 'second'])
})
