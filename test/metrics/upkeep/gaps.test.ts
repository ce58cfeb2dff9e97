/** Lets changes arrive in each gap of a rebuild: between two commits, and between an await and its commit. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { NOW } from '../../apple/samples.ts'
import { isLong, seed } from '../../random.ts'
import { openShop, type Shop } from '../shop.ts'
import { openPace, type Pace } from './pace.ts'
import { faultsOfFigures } from './recomputed.ts'

const DAY = 86_400_000
const LINEAGES = isLong ? 6 : 3
/** Days that may have a rate, including that of a purchase in euros. */
const DAYS = ['2026-05-13', '2026-05-14', '2026-05-22', '2026-06-01']

afterEach(() => void vi.restoreAllMocks())

const SIDES = ['before it is handed in', 'before its caller goes on'] as const
type Side = (typeof SIDES)[number]

/** Halts the n-th commit from now, before or after it, while `during` runs. */
function openGate(store: Store) {
  let commits = 0
  let nth = 0
  let halt: { side: Side; during: () => Promise<void> } | null = null

  function gated(commit: Store['commit']): Store['commit'] {
    return async (work) => {
      commits += 1
      const here = commits === nth ? halt : null
      if (here?.side === 'before it is handed in') await here.during()
      const done = await commit(work)
      if (here?.side === 'before its caller goes on') await here.during()
      return done
    }
  }

  Object.assign(store, {
    commit: gated(store.commit),
    commitBulk: gated(store.commitBulk),
    commitUpkeep: gated(store.commitUpkeep),
  })
  return {
    set(at: number, side: Side, during: () => Promise<void>): void {
      commits = 0
      nth = at
      halt = { side, during }
    },
    /** Opens the gate permanently; returns the number of commits while it was set. */
    open(): number {
      nth = 0
      return commits
    },
  }
}

/** The changes that may arrive; each one changes figures. */
function arrivalsAt(shop: Shop, { quickly }: Pace): Record<string, () => Promise<void>> {
  let committed = 0
  let rates = 0
  const next = (): number => {
    committed += 1
    return committed
  }
  return {
    // As far as time allows, the commit of a fact recounts the shown generation and marks only the next one.
    async 'a new subscription, and renewals'() {
      await quickly(() => shop.sell(LINEAGES + next()))
      await quickly(() => shop.sell(1, { renewal: committed }))
      await shop.sell(2, { renewal: committed })
    },
    async 'a rate, or one taken back'() {
      rates += 1
      if (rates % 2 === 1) await shop.keepRates('EUR', DAYS, '0.8')
      else for (const on of DAYS) await shop.takeBack('EUR', on)
    },
    'another period': async () => void (await shop.learnPeriod(`P${1 + (next() % 11)}M`)),
    'another currency': () => shop.declare({ currency: next() % 2 === 0 ? 'EUR' : 'USD' }),
    'another time zone': () => shop.declare({ time_zone: next() % 2 === 0 ? 'Asia/Tokyo' : 'UTC' }),
    'six days': async () => shop.clock.turn(6 * DAY),
  }
}

/**
 * Which changes arrive where. Long form: all in each gap. Short form: all before a generation begins, then facts and
 * one other change in each gap.
 */
function* roundsIn(gaps: number, arrivals: ReturnType<typeof arrivalsAt>) {
  const all = Object.entries(arrivals).map(([name, arrive]) => ({ name, arrive }))
  const others = all.slice(1)
  for (let nth = 1; nth <= gaps; nth += 1) {
    for (const [index, side] of SIDES.entries()) {
      const other = index === nth % SIDES.length ? (seed + nth) % others.length : null
      const some = all.filter((one, at) => isLong || nth === 1 || at === 0 || one === others[other ?? -1])
      for (const one of some) yield { ...one, nth, side }
    }
  }
}

test(`facts that arrive between the commits of a rebuild are not lost (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const shop = await openShop()
  const { metrics, store } = shop.windfall
  const pace = openPace()
  for (let number = 1; number <= LINEAGES; number += 1)
    await shop.sell(number, { currency: number % 2 === 0 ? 'EUR' : 'USD', at: NOW - number * 9 * DAY })
  await metrics.whenCurrent()
  const gate = openGate(store)
  gate.set(0, SIDES[0], async () => {})
  await pace.slowly(metrics.rebuild)
  const gaps = gate.open()
  // The commits: begin, each lineage, publish and sweep.
  expect(gaps).toBeGreaterThan(LINEAGES + 2)
  for (const { nth, side, name, arrive } of roundsIn(gaps, arrivalsAt(shop, pace))) {
    gate.set(nth, side, arrive)
    await pace.slowly(metrics.rebuild)
    gate.open()
    expect([nth, side, name, ...(await faultsOfFigures(shop.windfall))]).toEqual([nth, side, name])
  }
})
