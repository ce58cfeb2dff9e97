/** Metrics with delayed commits: each waits a random time before it is submitted and before its caller continues. */
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { fill } from '../../src/demo/fill.ts'
import { APPS } from '../../src/demo/world/catalogue.ts'
import { openRandom, type Random } from '../../src/demo/world/random.ts'
import type { Store } from '../../src/store/store.ts'
import { DAY, type Late, NOW, openLate } from '../metrics/reports/late_connection.ts'
import { faultsOfFigures } from '../metrics/upkeep/recomputed.ts'
import { isLong, seed } from '../random.ts'

const ROUNDS = isLong ? 10 : 1
const FROM = NOW - 60 * DAY
/** The days that are simulated with late commits, and the days before them whose reports are imported first. */
const DAYS_LATE = 12
const DAYS_BEFORE = 22
const DAYS_TOGETHER = 3
const TURNS_MOST = 12

/** Delays all commits of a store by a random number of turns of the event loop. */
function delay(store: Store, random: Random): void {
  const turns = async (): Promise<void> => {
    for (let left = random.chance(0.5) ? 0 : random.whole(1, TURNS_MOST); left > 0; left -= 1)
      await setImmediate()
  }
  const late =
    (commit: Store['commit']): Store['commit'] =>
    async (work) => {
      await turns()
      const done = await commit(work)
      await turns()
      return done
    }
  const { commit, commitBulk, commitUpkeep } = store
  Object.assign(store, {
    commit: late(commit),
    commitBulk: late(commitBulk),
    commitUpkeep: late(commitUpkeep),
  })
}

/** Changes other than purchases, by day. Each changes the computation of metrics. */
function changesIn({ windfall, organization, clock }: Late, random: Random) {
  const { imports, metrics, organizations, products, rates, store } = windfall
  const dayAgo = (days: number): string => new Date(clock() - days * DAY).toISOString().slice(0, 10)
  const { slug, name, sdk_auth } = organization
  let wanted = { time_zone: organization.time_zone, currency: organization.currency }
  let imported: string | null = null

  async function declare(next: Partial<typeof wanted>): Promise<void> {
    wanted = { ...wanted, ...next }
    await store.commit(() => organizations.declare([{ slug, name, sdk_auth, ...wanted }]))
    await metrics.resume()
  }

  async function importRate(): Promise<void> {
    const on = dayAgo(random.whole(0, 1))
    const read = rates.readCsv(`date,currency,rate\n${on},EUR,0.9${random.whole(0, 9)}`, 'USD')
    const { added } = await store.commit(() => rates.importRates(read))
    if (added > 0) imported = on
  }

  async function takeBack(): Promise<void> {
    const on = imported
    imported = null
    if (on !== null) await store.commit(() => void rates.remove('EUR', on))
  }

  /** Changes the period of a product temporarily. */
  async function mistakePeriod(): Promise<void> {
    const { bundle_id, plans } = random.pick(APPS)
    const { product_id, period } = random.pick(plans)
    const [app] = windfall.apps.byBundle(bundle_id)
    for (const declared of [period === 'P1Y' ? 'P1M' : 'P1Y', period])
      await store.commit(() => products.setReportedPeriod(app?.id ?? '', { product_id, period: declared }))
  }

  const refreshRates = () => rates.refresh(new AbortController().signal)

  const generations: (() => Promise<unknown>)[] = [
    () => declare({ currency: random.pick(['USD', 'EUR']) }),
    () => declare({ time_zone: random.pick(['UTC', 'Europe/Berlin']) }),
    metrics.rebuild,
  ]
  const others: (() => Promise<unknown>)[] = [importRate, importRate, takeBack, mistakePeriod, refreshRates]
  return {
    /**
     * Starts random changes. With `isOthersOnly` none starts a new generation, which would hide errors of the current
     * one.
     */
    some: (isOthersOnly: boolean): Promise<unknown>[] =>
      Array.from({ length: random.whole(1, 5) }, () =>
        random.pick(isOthersOnly || random.chance(0.5) ? others : generations)(),
      ),
    importReports: () => imports.run({ days: 3 }),
  }
}

/** The days between two comparisons. A new generation starts only on the first of them. */
const placeOf = (at: number): number => Math.round((NOW - at) / DAY) % DAYS_TOGETHER
const isFirst = (at: number): boolean => placeOf(at) === DAYS_TOGETHER - 1
const isLast = (at: number): boolean => placeOf(at) === 0

/** Simulates all days with a random amount of concurrent work. `isLate` delays the commits. */
async function play(round: number, isLate: boolean) {
  const late = await openLate({ subscribers: 60, seed: seed + round, from: FROM, connected: FROM })
  const { windfall, clock, simulation } = late
  const { metrics, store } = windfall
  await late.live(NOW - DAYS_LATE * DAY)
  await windfall.rates.refresh(new AbortController().signal)
  await late.importAll(DAYS_BEFORE)
  const random = openRandom(`late/${seed}/${round}`)
  const changes = changesIn(late, random)
  // In order, because the clock is set to the time of each purchase.
  const inOrder = { ...windfall, store: { ...store } }
  if (isLate) delay(store, openRandom(`turns/${seed}/${round}`))
  const faults: string[] = []
  let underWay: Promise<unknown>[] = []
  for (let at = NOW - (DAYS_LATE - 1) * DAY; at <= NOW; at += DAY) {
    underWay.push(fill(inOrder, simulation.advance(at), clock, () => {}))
    await Promise.all(underWay)
    clock.set(at)
    underWay = [changes.importReports(), ...changes.some(!isFirst(at))]
    if (!isLate || isLast(at)) await Promise.all(underWay)
    if (!isLate) await metrics.whenCurrent()
    if (isLast(at)) faults.push(...(await faultsOfFigures(windfall)))
  }
  const cutovers = store
    .prepare<[], [name: string, day: number]>(
      "select bundle_id || ' ' || metric, day from metric_cutovers join apps on apps.id = app_id order by 1",
    )
    .raw()
    .all()
  await late.close()
  return { faults, cutovers: new Map(cutovers) }
}

test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  `whatever comes late, no fact is lost and no cutover is stored too early (seed ${seed}, round %i)`,
  { timeout: 180_000 },
  async (round) => {
    const quiet = await play(round, false)
    const late = await play(round, true)
    expect([quiet.faults, late.faults]).toEqual([[], []])
    expect(quiet.cutovers.size).toBeGreaterThan(0)
    for (const [name, day] of late.cutovers)
      expect([name, day >= (quiet.cutovers.get(name) ?? Infinity)]).toEqual([name, true])
  },
)
