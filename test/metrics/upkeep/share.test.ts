/** The worker’s share of time while other work keeps the server busy. */
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openWorker } from '../../../src/metrics/upkeep/worker.ts'
import { openBulk } from '../../../src/store/bulk.ts'
import { handClock } from '../../helpers.ts'
import { openTestStore } from '../../store/open.ts'

const PIECES = 2_000

/**
 * The worker’s share during `PIECES` pieces of bulk work of a millisecond each, like each step of the worker.
 * `per_turn`: the number of ordinary commits in each turn of the event loop.
 */
async function shareBeside(per_turn: number): Promise<number> {
  const elapsed = handClock(1_000)
  const { store } = openTestStore(elapsed)
  const spent = { worker: 0, others: 0 }
  const spend = (task: keyof typeof spent) => (): void => {
    elapsed.turn(1)
    spent[task] += 1
  }
  const scheduler = {
    step(): boolean {
      spend('worker')()
      return true
    },
    isWaiting: () => true,
    prioritize() {},
    prefer: () => () => {},
  }
  const none = { add() {}, write() {} }
  const sums = { days: { ...none, cells: () => new Map() }, cohorts: none, write() {} }
  const worker = openWorker({
    store,
    stoppages: { watch: () => ({ failed() {}, worked() {} }) },
    scheduler,
    recount: { openSums: () => sums },
    elapsed,
  })
  worker.kick()
  const bulk = openBulk(store)
  let isOver = false
  const callers = (async () => {
    while (!isOver) {
      await setImmediate()
      await Promise.all(Array.from({ length: per_turn }, () => store.commit(spend('others'))))
    }
  })()
  for (let piece = 0; piece < PIECES; piece += 1) await bulk.add(spend('others'))
  await bulk.finish()
  isOver = true
  await callers
  await worker.close()
  await store.close()
  return spent.worker / (spent.worker + spent.others)
}

test.each([
  ['bulk work', 0],
  ['bulk work and some callers', 1],
  ['bulk work and as many callers as fill each batch', 20],
])('with %s the worker gets about a quarter of the time', async (_, per_turn) => {
  const share = await shareBeside(per_turn)
  expect(share).toBeGreaterThan(0.2)
  expect(share).toBeLessThan(0.4)
})
