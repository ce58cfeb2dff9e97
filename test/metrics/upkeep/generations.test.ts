/** Generations: rebuilds for other formulas or another currency, and without room for one. */
import { setImmediate } from 'node:timers/promises'
import * as v from 'valibot'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { resolveRequest, SeriesParams } from '../../../src/metrics/series/series_request.ts'
import { FORMULA } from '../../../src/metrics/upkeep/generations.ts'
import { NOW } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { handClock, type TestOptions } from '../../helpers.ts'
import { openShop, type Shop } from '../shop.ts'
import { openPace } from './pace.ts'
import { faultsOfFigures } from './recomputed.ts'

const HOUR = 3_600_000
const DAYS = ['2026-05-31', '2026-06-01']
const LINEAGES = 12
/** The last version of the formulas that stored no proceeds. */
const FORMULA_WITHOUT_PROCEEDS = 2
const PATHS = [
  'metrics/revenue?split=country',
  'overview',
  'today',
  'cohorts?metric=ltv',
  'customers',
  'customers.csv',
]

type Behind = { lineages: number; since: number | null; reason: string } | null

let folder: ReturnType<typeof temporaryFolder>
let shop: Shop
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  vi.restoreAllMocks()
  free()
  await shop.close()
  folder.remove()
})

/** Reopens the existing data folder. */
async function reopen(options: TestOptions): Promise<void> {
  shop = await openShop({ folder: folder.path, apps: [], ...options })
}
async function openWithSales(): Promise<void> {
  shop = await openShop({ folder: folder.path })
  await shop.keepRates('EUR', DAYS, '0.8')
  for (let number = 1; number <= LINEAGES; number += 1) await shop.sell(number, { at: NOW - HOUR })
  await shop.windfall.metrics.whenCurrent()
}
const shown = () => shop.windfall.metrics.generations.shown(shop.organization.id)

/** Releases the worker if it waits. */
let free = (): void => {}

/** Makes each further slice of the worker wait for `step`. */
function stepping(): { step(): Promise<void>; release(): void } {
  const { store } = shop.windfall
  const { commitUpkeep } = store
  let isFree = false
  const waiting: (() => void)[] = []
  Object.assign(store, {
    async commitUpkeep<Given>(work: () => Given): Promise<Given> {
      if (!isFree) await new Promise<void>((resolve) => void waiting.push(resolve))
      return commitUpkeep(work)
    },
  })
  const letGo = (): void => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  free = () => {
    isFree = true
    letGo()
  }
  return {
    release: free,
    /** Releases a slice if one waits. */
    async step(): Promise<void> {
      letGo()
      await store.commit(() => {})
    },
  }
}

async function mrr() {
  const headers = await shop.signIn()
  const answer = await shop.request('/api/v1/metrics/mrr', { headers })
  const { behind, series } = (await answer.json()) as {
    behind: Behind
    series: { points: { count: number }[] }[]
  }
  return { behind, count: series[0]?.points.at(-1)?.count }
}

test('other formulas freeze the shown figures and say so until all are recounted', async () => {
  await openWithSales()
  const before = shown().id
  await shop.close()
  const pace = openPace()
  await pace.slowly(async () => {
    await reopen({ formula: FORMULA + 1 })
    const first = stepping()
    const closing = shop.close()
    first.release()
    await closing
    // It has been frozen since the first start with them.
    await reopen({ formula: FORMULA + 1, clock: handClock(NOW + HOUR) })
    const worker = stepping()
    await shop.sell(LINEAGES + 1, { at: NOW - HOUR })
    expect(shown().id).toBe(before)
    const mrrBefore = await mrr()
    expect(mrrBefore).toEqual({
      behind: expect.objectContaining({ reason: 'formula', since: NOW }),
      count: LINEAGES,
    })
    worker.release()
    await shop.windfall.metrics.whenCurrent()
  })
  expect(shown().id).toBeGreaterThan(before)
  expect(await mrr()).toEqual({ behind: null, count: LINEAGES + 1 })
  expect(await faultsOfFigures(shop.windfall)).toEqual([])
})

test('proceeds that an earlier version did not store are unknown, not zero, until all is recounted', async () => {
  const get = async <Answer>(path: string) => {
    const answer = await shop.request(`/api/v1/${path}`, { headers: await shop.signIn() })
    return (await answer.json()) as Answer
  }
  const revenue = async (basis: string) => {
    type Answer = { series: { points: object[]; reasons: { reason: string }[] }[] }
    const { series } = await get<Answer>(`metrics/revenue?basis=${basis}`)
    const reasons = series[0]?.reasons.map(({ reason }) => reason) ?? []
    return { ...series[0]?.points.at(-1), isBehind: reasons.includes('behind') }
  }
  const cohorts = (name: string) => get<{ cohorts: object[] }>(`cohorts?metric=${name}&basis=proceeds`)
  shop = await openShop({ folder: folder.path, formula: FORMULA_WITHOUT_PROCEEDS })
  await shop.sell(1, { at: NOW - HOUR })
  expect(await revenue('gross')).toMatchObject({ milli: 4_990, isBehind: false })
  expect(await revenue('proceeds')).toMatchObject({ milli: null, complete: false, isBehind: true })
  for (const name of ['ltv', 'arppu'])
    expect(await cohorts(name)).toMatchObject({
      cohorts: [],
      proceeds_known: null,
      reasons: [{ reason: 'behind' }],
    })
  await shop.close()
  await reopen({})
  await shop.windfall.metrics.whenCurrent()
  // 4.990 less 30 %.
  expect(await revenue('proceeds')).toMatchObject({ milli: 3_493, isBehind: false })
  for (const name of ['ltv', 'arppu'])
    expect(await cohorts(name)).toMatchObject({ proceeds_known: { exact: 0, ratio: 0, estimated: 3_493 } })
})

test('returning to earlier formulas before a rebuild ends does not show frozen figures as whole', async () => {
  await openWithSales()
  const before = shown().id
  await shop.close()
  const pace = openPace()
  await pace.slowly(async () => {
    await reopen({ formula: FORMULA + 1 })
    const worker = stepping()
    await shop.sell(LINEAGES + 1, { at: NOW - HOUR })
    expect(shown().id).toBe(before)
    const closing = shop.close()
    worker.release()
    await closing
    await reopen({ formula: FORMULA })
    const again = stepping()
    shop.clock.turn(HOUR)
    expect(shown().id).toBe(before)
    expect(await mrr()).toEqual({
      behind: expect.objectContaining({ reason: 'formula', since: NOW }),
      count: LINEAGES,
    })
    again.release()
    await shop.windfall.metrics.whenCurrent()
  })
  expect(shown().id).toBeGreaterThan(before)
  expect(await mrr()).toEqual({ behind: null, count: LINEAGES + 1 })
  expect(await faultsOfFigures(shop.windfall)).toEqual([])
})

test('a read over many turns sees one generation, which is deleted only afterwards', async () => {
  await openWithSales()
  const { apps, metrics, organizations, series, store } = shop.windfall
  const [organization] = organizations.list()
  if (!organization) throw new Error('there is no organization')
  const scope = {
    organization,
    apps: apps.list(),
    environment: 'production',
    zone: 'own',
    metrics: null,
  } as const
  const before = shown()
  const rows = () =>
    store
      .prepare<[number], number>('select count(*) from metric_rows where generation = ?')
      .pluck()
      .get(before.id)
  const kept = rows()
  const today = series.todayOf(scope)
  const query = v.parse(SeriesParams, { from: '2026-05-25', split: 'country' })
  const answers = await series.withSnapshot(scope, async (one) => {
    const request = async () => {
      const {
        behind: _,
        rebuilding: __,
        ...answer
      } = await series.answer(one, resolveRequest('revenue', query, today))
      return answer
    }
    const first = await request()
    await shop.declare({ currency: 'EUR' })
    await metrics.whenCurrent()
    expect([shown().currency, rows()]).toEqual(['EUR', kept])
    return [first, await request()]
  })
  expect(answers[0]?.currency).toBe('USD')
  expect(answers[1]).toEqual(answers[0])
  await metrics.whenCurrent()
  expect(rows()).toBe(0)
})

test('each answer names the currency of its amounts while the currency changes', async () => {
  await openWithSales()
  const headers = await shop.signIn()
  const seen = new Set<string>()
  const pace = openPace()
  const worker = stepping()

  async function request(path: string): Promise<void> {
    const response = await shop.request(`/api/v1/${path}`, { headers })
    // A file of several pages is cut off where the switch happens between two of them: it never mixes currencies.
    const text = await response.text().catch((error) => {
      if (path !== 'customers.csv') throw error
      return null
    })
    if (text === null) return
    // A purchase costs 4.990 dollars, which are 3.992 euros; twelve cost 59.880, which are 47.904.
    const isIn = { USD: /\bUSD\b/.test(text), EUR: /\bEUR\b/.test(text) }
    const has = { USD: /4.?990\b|59.?880\b/.test(text), EUR: /3.?992\b|47.?904\b/.test(text) }
    expect([path, has, text]).toEqual([path, isIn, text])
    seen.add(`${path} ${isIn.USD ? 'USD' : 'EUR'}`)
  }

  /** Starts all answers a number of turns before each slice: one of these shows the other currency. */
  async function change(currency: string, turns: number): Promise<void> {
    await shop.declare({ currency })
    while (shown().currency !== currency) {
      const answers = PATHS.map(request)
      for (let left = turns; left > 0; left -= 1) await setImmediate()
      await worker.step()
      await Promise.all(answers)
    }
  }

  await pace.slowly(async () => {
    for (let turns = 0; turns < 6; turns += 1) await change(turns % 2 === 0 ? 'EUR' : 'USD', turns)
  })
  expect(seen.size).toBe(2 * PATHS.length)
})

test('without room for another generation, the previous one stays shown and the next start retries', async () => {
  const logged: string[] = []
  await openWithSales()
  await shop.close()
  await reopen({ logged })
  const { metrics, store } = shop.windfall
  const { assertFreeSpaceFor } = store
  Object.assign(store, {
    assertFreeSpaceFor() {
      throw new Refusal(507, 'no_room', 'there is no room for it')
    },
  })
  await shop.declare({ currency: 'EUR' })
  await metrics.whenCurrent()
  expect([shown().currency, metrics.generations.making(shop.organization.id)]).toEqual(['USD', null])
  expect(metrics.refused(shop.organization.id)).toBeInstanceOf(Refusal)
  shop.windfall.log.flush()
  expect(logged.filter((line) => line.includes('cannot be recomputed with the new settings'))).toHaveLength(1)
  // Facts continue to arrive meanwhile.
  await shop.sell(LINEAGES + 1, { at: NOW - HOUR })
  expect(await mrr()).toEqual({ behind: null, count: LINEAGES + 1 })
  Object.assign(store, { assertFreeSpaceFor })
  await shop.close()
  await reopen({ env: { WINDFALL_ORGANIZATIONS: '[{ slug = "default", currency = "EUR" }]' } })
  await shop.windfall.metrics.whenCurrent()
  expect(shown().currency).toBe('EUR')
  expect(shop.windfall.metrics.refused(shop.organization.id)).toBeNull()
  expect(await faultsOfFigures(shop.windfall)).toEqual([])
})

test('returning to the previous currency clears a refused generation', async () => {
  await openWithSales()
  const { metrics, store } = shop.windfall
  const { assertFreeSpaceFor } = store
  Object.assign(store, {
    assertFreeSpaceFor() {
      throw new Refusal(507, 'no_room', 'there is no room for it')
    },
  })
  await shop.declare({ currency: 'EUR' })
  expect(metrics.refused(shop.organization.id)).toBeInstanceOf(Refusal)
  await shop.declare({ currency: 'USD' })
  expect(metrics.refused(shop.organization.id)).toBeNull()
  Object.assign(store, { assertFreeSpaceFor })
})

test('assigns numbers to all lineages with facts before a generation is shown', async () => {
  await openWithSales()
  const { metrics, store } = shop.windfall
  await store.commit(() => void store.prepare('delete from metric_lineages where id > 4').run())
  await metrics.rebuild()
  expect(await mrr()).toEqual({ behind: null, count: LINEAGES })
  expect(await faultsOfFigures(shop.windfall)).toEqual([])
})

test('a stop ends waits for a generation and leaves other work its turn', async () => {
  await openWithSales()
  const pace = openPace()
  await pace.slowly(async () => {
    const { metrics } = shop.windfall
    const rebuilt = expect(metrics.rebuild()).rejects.toMatchObject({ code: 'store_closing' })
    while (metrics.generations.making(shop.organization.id) === null) await setImmediate()
    await metrics.close()
    await setImmediate()
    await rebuilt
  })
  expect(shop.windfall.metrics.progress()).not.toBeNull()
})
