/** Sums Apple’s reports as they are imported, and joins them with the ledger. */
import { setImmediate } from 'node:timers/promises'
import type { Apps } from '../../apps/apps.ts'
import type { Products } from '../../apps/products.ts'
import type { Clock } from '../../clock.ts'
import { openHook } from '../../hooks.ts'
import type { ReportDay } from '../../ledger/reports/received.ts'
import type { RateChange } from '../../rates/rate_store.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import { openAmountSources } from '../joined/amount_sources.ts'
import { openCoverage } from '../joined/coverage.ts'
import { openCutovers } from '../joined/cutovers.ts'
import { openJoined } from '../joined/joined.ts'
import { openLevelAgreement } from '../joined/level_agreement.ts'
import { openJoinedTallies } from '../joined/tallies.ts'
import { dayText } from '../lineage/calendar.ts'
import type { DaySumCache } from '../sums/day_sum_cache.ts'
import { openBackOff } from '../upkeep/back_off.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import { SUMMED_KINDS, type SummedKind } from './cells.ts'
import { type DueCount, openReportedDays } from './days.ts'
import { openReportedNames } from './names.ts'
import { openReportedPrices } from './prices.ts'
import { type Commission, openProceedsCalculator } from './proceeds.ts'
import { openReportRowsRead } from './report_rows.ts'
import { openSumming, type SumWrite } from './summing.ts'
import { openReportedSums } from './sums.ts'
import { openUnconnected } from './unconnected.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  products: Products
  rates: Rates
  generations: Generations
  daySums: DaySumCache
  /** Read on each use, so that a reload of the configuration applies. */
  commission: Commission
  stoppages: Pick<Stoppages, 'watch'>
}

/** How many days are read before they are written, and how many sums are written in one unit of work. */
const BATCH_DAYS = 12
const COMMIT_SUMS = 150
const REPORTS_WATCHED = {
  part: 'metrics',
  name: 'reports',
  title: 'Apple’s reports are not summed',
  message: 'Apple’s reports could not be summed; Windfall will retry',
} as const

export type Reported = ReturnType<typeof openReported>

export function openReported(deps: Deps) {
  const { store, clock, apps, products, rates, generations, daySums, commission } = deps
  const days = openReportedDays({ store, clock, generations })
  const sums = openReportedSums(store)
  const prices = openReportedPrices(store)
  const names = openReportedNames(store, products)
  const rows = openReportRowsRead(store)
  const summing = openSumming({ store, rates, generations, days, rows, sums, prices, names })
  const sources = openAmountSources({ store, sums, daySums, names })
  const agreement = openLevelAgreement(sources)
  const summed = openHook<[]>()
  const cutoverHolds = openHook<[app_id: string], boolean>()
  const cutovers = openCutovers({ store, clock, generations, days, sums, sources, agreement, isCurrent })
  const joined = openJoined({ days, sums, sources, cutovers, agreement, commission })
  const tallies = openJoinedTallies(joined, (app_id) => apps.get(app_id))
  const coverage = openCoverage({ convertToBase, days, sums, sources, cutovers })
  const backOff = openBackOff()
  const watch = deps.stoppages.watch(REPORTS_WATCHED)
  let running: Promise<void> | null = null
  /** Whether cutovers need an evaluation. */
  let isEvaluationDue = false
  /** The number of running comparisons of days with their reports. They may still mark days due. */
  let comparisons = 0

  /** Converts an amount at the rate of a day; null if there is no rate. */
  function convertToBase(base: string, milli: number, currency: string, day: number): number | null {
    return milli === 0 ? 0 : (rates.convert(milli, currency, base, dayText(day))?.milli ?? null)
  }

  /** Whether no fact or report of an app is due in the shown generation. */
  function isCurrent(app_id: string): boolean {
    const shown = generations.shownOf(app_id)
    if (shown === null || !generations.isLive(shown) || isDue(shown.id)) return false
    return !cutoverHolds.call(app_id).includes(true)
  }

  /** Whether a report day is due in a generation, or may be marked due by a running comparison. */
  const isDue = (generation: number): boolean => comparisons > 0 || days.isDue(generation)

  /** Handles a changed report day, within the unit of work that changes the day. */
  function dayChanged({ organization_id, kind, day }: ReportDay): void {
    if (kind === 'subscriber') return
    days.touchEverywhere(organization_id, kind, day)
    store.afterCommit(runInBackground)
  }

  /** Handles a new or revoked exchange rate, within the unit of work that stores or revokes the rate. */
  function ratesChanged({ is_removal }: RateChange): void {
    if (is_removal) days.touchAll()
    else days.touchProvisional()
    store.afterCommit(runInBackground)
  }

  /** Handles apps that are connected after reports that contain them. */
  function appsJoined(organization_id: string): void {
    resume(organization_id).catch((error) => watch.failed(error))
  }

  /** Sums due days in the background. Failed days stay due and are retried. */
  function runInBackground(): void {
    if (backOff.isClosed()) return
    running ??= runAll().finally(() => {
      running = null
      if (isEvaluationDue) runInBackground()
    })
  }

  async function runAll(): Promise<void> {
    while (!backOff.isClosed() && (isEvaluationDue || days.due(1).length > 0)) {
      isEvaluationDue = false
      try {
        await sumAll()
        summed.call()
        await evaluateAll()
        backOff.reset()
        watch.worked()
      } catch (error) {
        isEvaluationDue = true
        watch.failed(error)
        await backOff.wait()
      }
    }
  }

  /** Sums all due days. */
  async function sumAll(): Promise<void> {
    for (
      let some = days.due(BATCH_DAYS);
      some.length > 0 && !backOff.isClosed();
      some = days.due(BATCH_DAYS)
    ) {
      const writes: SumWrite[] = []
      for (const due of some) {
        writes.push(...(await summing.writesOf(due)))
        await setImmediate()
      }
      await writeAll(writes)
    }
  }

  /** Evaluates the cutovers of all apps with reports. */
  async function evaluateAll(): Promise<void> {
    for (const app of apps.list()) {
      const shown = generations.shown(app.organization_id)
      if (backOff.isClosed() || days.available(shown.id, 'subscription').length === 0) continue
      await generations.withHold(shown, () => cutovers.advance(app))
    }
  }

  /** Evaluates cutovers in the background. Resolves after the evaluation. */
  async function evaluateCutovers(): Promise<void> {
    isEvaluationDue = true
    runInBackground()
    await settled()
  }

  /** Runs writes in order, several of them in one short unit of work. */
  async function writeAll(writes: readonly SumWrite[]): Promise<void> {
    for (let from = 0; from < writes.length; ) {
      const begin = from
      from = await store.commit(() => {
        let at = begin
        for (let size = 0; size < COMMIT_SUMS && at < writes.length; at += 1) {
          size += writes[at]?.size ?? 0
          writes[at]?.write()
        }
        return at
      })
      await setImmediate()
    }
  }

  /**
   * Marks outdated days of one organization (null: all) due: after a crash, for newly connected apps, or for a
   * generation that was frozen.
   */
  async function resume(organization_id: string | null = null): Promise<void> {
    comparisons += 1
    try {
      const of = days.live().filter((one) => (organization_id ?? one.organization_id) === one.organization_id)
      for (const generation of of) for (const kind of SUMMED_KINDS) await compare(generation, kind)
    } finally {
      comparisons -= 1
    }
    isEvaluationDue = true
    runInBackground()
  }

  /** Marks days of a generation due whose stored fingerprint differs from that of their reports. */
  async function compare(of: Generation, kind: SummedKind): Promise<void> {
    await setImmediate()
    if (backOff.isClosed()) return
    const fingerprintByDay = new Map(days.all(of.id, kind).map((day) => [day.day_on, day.made_of]))
    const outdated = days
      .sources(of.organization_id, kind)
      .filter((source) => fingerprintByDay.get(source.day_on) !== summing.sourceFingerprint(source))
    if (outdated.length === 0) return
    await store.commit(() => {
      if (!days.live().some(({ id }) => id === of.id)) return
      for (const { day_on } of outdated) days.touchIn(of, kind, day_on)
    })
  }

  /** Marks all days of a new generation due. Runs inside a unit of work. */
  function begin(generation: Generation): void {
    days.begin(generation)
    store.afterCommit(runInBackground)
  }

  /** Deletes about `limit` sums of a dropped generation inside a unit of work. Returns true if there may be more. */
  const sweep = (generation: number, limit: number): boolean =>
    sums.drop(generation, limit) > 0 || days.drop(generation, limit) > 0

  /** The number of due report days of a generation, and the instant since which the first has been due. */
  const dueDays = (generation: number): DueCount => days.dueIn(generation)

  /** Resolves once no day is due. */
  async function settled(): Promise<void> {
    while (running) await running
  }

  /** Stops after the current write. Due days stay due. */
  async function close(): Promise<void> {
    backOff.close()
    await settled()
  }

  return {
    resume,
    begin,
    sweep,
    isDue,
    dueDays,
    evaluateCutovers,
    settled,
    close,
    /** Whether no day is due. */
    isSettled: (): boolean => comparisons === 0 && days.due(1).length === 0,
    dayChanged,
    ratesChanged,
    appsJoined,
    /** Calls the listener when all due days are summed. */
    onSummed: summed.add,
    /** While any listener returns true for an app, the cutovers of the app are not evaluated. */
    holdCutovers: cutoverHolds.add,
    read: joined.read,
    readReportsOnly: joined.readReportsOnly,
    readTallies: tallies.read,
    ledgerOnlyIn: tallies.ledgerOnlyIn,
    knownFrom: tallies.knownFrom,
    cutoverOf: cutovers.cutoverOf,
    observedFrom: cutovers.observedFrom,
    proceedsOf: openProceedsCalculator(prices, commission),
    proceedsOfLedger: sources.proceedsOfLedger,
    onPrices: prices.onChange,
    coverage: coverage.coverageOf,
    unconnected: openUnconnected({ store, convertToBase }),
  }
}
