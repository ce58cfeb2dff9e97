/** What we remember: the metrics, kept up with the ledger, made anew beside themselves, and proved to be the same. */
import { setImmediate } from 'node:timers/promises'
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Products } from '../apps/products.ts'
import type { Clock } from '../clock.ts'
import type { Ledger, LineageKey } from '../ledger/ledger.ts'
import type { Rates } from '../ledger/rates/rates.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import { openComparison, type Verified } from './comparison.ts'
import { openDayLines } from './day_lines.ts'
import type { Factors } from './months.ts'
import { openSettings } from './settings.ts'
import { openTasks, type Task } from './tasks.ts'
import { openUpkeep, type Upkeep } from './upkeep.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  products: Products
  rates: Rates
  ledger: Ledger
  factors: Factors
  log: Log
}

/** Lineages made anew in one unit of work: others wait for it, and one may have a hundred transactions. */
const LINEAGES_AT_ONCE = 10
/** Sums of the next generation that are written in one unit of work, and that may wait for it. */
const SUMS_AT_ONCE = 1_000
const SUMS_IN_MIND = 100_000

/** How far making everything anew is, in lineages. */
export type RebuildProgress = { done: number; of: number }

type Making = ReturnType<Upkeep['openMaking']>

export type Metrics = ReturnType<typeof openMetrics>

export function openMetrics({ store, clock, ledger, factors, log, ...known }: Deps) {
  const settingsOf = openSettings({ store, ...known }, factors)
  const upkeep = openUpkeep(store, clock, settingsOf)
  const compare = openComparison(store, upkeep)
  const tasks = openTasks(store, known.organizations, factors)
  const closing = new AbortController()
  let working: Promise<void> | null = null
  let making: Promise<unknown> = Promise.resolve()
  let progress: RebuildProgress | null = null
  ledger.onChange((lineage) => void upkeep.recompute(lineage))
  known.rates.onChange(({ is_taken_back }) => later(is_taken_back ? 'settings' : 'rates'))
  known.products.onPeriod(later)

  /** Remembers a task within the unit of work that makes it one, and begins it after that. */
  function later(task: Task): void {
    tasks.add(task)
    store.afterCommit(work)
  }

  /** Does what has to be made anew, in the background. */
  function work(): void {
    working ??= workAll()
      .catch((error) => {
        if (!closing.signal.aborted) log.error('the metrics could not be made anew', { error })
      })
      .finally(() => {
        working = null
      })
  }

  async function workAll(): Promise<void> {
    for (let task = tasks.next(); task !== null; task = tasks.next()) {
      const doing = task
      closing.signal.throwIfAborted()
      // What becomes a task meanwhile is one again.
      await store.commit(() => tasks.finish(doing))
      try {
        await perform(doing)
      } catch (error) {
        await store.commit(() => tasks.add(doing))
        throw error
      }
    }
  }

  async function perform(task: Task): Promise<void> {
    if (task === 'settings') await rebuild()
    else if (task === 'rates') await recomputeAll(upkeep.provisional)
    else await recomputeAll((after, limit) => upkeep.lineagesOf(task, after, limit))
  }

  type Slice = (after: number, limit: number) => readonly (LineageKey & { id: number })[]

  async function recomputeAll(slice: Slice): Promise<void> {
    for (let after: number | null = 0; after !== null; ) {
      closing.signal.throwIfAborted()
      const begin: number = after
      after = await store.commit(() => {
        const some = slice(begin, LINEAGES_AT_ONCE)
        for (const key of some) upkeep.recompute(key)
        return some.at(-1)?.id ?? null
      })
      await setImmediate()
    }
  }

  /** Shows what lay ahead until now. */
  async function ripen(): Promise<void> {
    while (upkeep.isDue() && (await store.commit(upkeep.ripen))) await setImmediate()
  }

  /**
   * Makes everything anew from the facts, beside what is shown, while facts go on arriving; then shows that. Returns how
   * many lineages there are. Where it is stopped, what was shown stays.
   */
  async function rebuild(): Promise<number> {
    return alone(async () => {
      const done = await make()
      await store.commit(() => upkeep.generations.change())
      await sweep()
      return done
    })
  }

  /** Whether what is kept and shown is what the facts give, told with the first difference where it is not. */
  async function verify(): Promise<Verified> {
    return alone(async () => {
      const rows = await compare.rows()
      if (rows.difference !== null) return rows
      await make()
      const difference = await compare.sums()
      await store.commit(() => upkeep.generations.giveUp())
      await sweep()
      return { ...rows, difference }
    })
  }

  /** One after the other: there is one next generation. */
  function alone<Result>(job: () => Promise<Result>): Promise<Result> {
    const result = making.then(job)
    making = result.catch(() => {})
    return result
  }

  /** Makes the next generation of sums, whole, beside the one that is shown. */
  async function make(): Promise<number> {
    await store.commit(() => upkeep.generations.begin())
    const of = upkeep.countLineages()
    const making = upkeep.openMaking()
    let done = 0
    try {
      for (let more = true; more; ) {
        closing.signal.throwIfAborted()
        const made = await store.commit(() => making.some(LINEAGES_AT_ONCE))
        done += made
        more = made === LINEAGES_AT_ONCE
        progress = { done, of: Math.max(done, of) }
        await setImmediate()
        if (!more || making.sums.size() > SUMS_IN_MIND) await write(making.sums)
      }
    } finally {
      progress = null
    }
    return done
  }

  async function write({ size, write: writeSome }: Making['sums']): Promise<void> {
    while (size() > 0) {
      closing.signal.throwIfAborted()
      await store.commit(() => writeSome(SUMS_AT_ONCE))
      await setImmediate()
    }
  }

  async function sweep(): Promise<void> {
    while (await store.commit(() => upkeep.generations.sweep())) await setImmediate()
  }

  /**
   * Gives up the generation that a rebuild or verification left behind when its process ended. Until then every new
   * fact is added to it, too. It waits for what is under way, whose generation is no leftover.
   */
  function giveUpLeftover(): void {
    alone(async () => {
      if (upkeep.generations.making() === null) return
      await store.commit(() => upkeep.generations.giveUp())
      await sweep()
    }).catch((error) => log.error('an unfinished rebuild of the metrics could not be given up', { error }))
  }

  /** Begins what was not finished, and what another time zone or currency asks for. */
  async function resume(): Promise<void> {
    giveUpLeftover()
    await store.commit(() => tasks.compareSettings())
    work()
  }

  /** Resolves once nothing waits to be made anew. */
  async function settled(): Promise<void> {
    while (working) await working
  }

  /** Stops what is under way; it goes on at the next start. */
  async function close(): Promise<void> {
    closing.abort()
    await settled()
    await making
  }

  return {
    ripen,
    rebuild,
    verify,
    resume,
    settled,
    close,
    progress: () => progress,
    settingsOf,
    onLineage: upkeep.onLineage,
    generations: upkeep.generations,
    lines: openDayLines(store, upkeep.onWritten),
  }
}
