/** What we remember: the metrics that Apple's reports give, kept up with the import, and joined with those of the ledger. */
import { setImmediate } from 'node:timers/promises'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Products } from '../../apps/products.ts'
import type { Clock } from '../../clock.ts'
import type { Rates } from '../../ledger/rates/rates.ts'
import type { Imports } from '../../ledger/reports/imports.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { dayText } from '../calendar.ts'
import type { DayLines } from '../day_lines.ts'
import type { SettingsOf } from '../settings.ts'
import { openAlike } from './alike.ts'
import { SUMMED_KINDS } from './cells.ts'
import { openCoverage } from './coverage.ts'
import { openReportedDays } from './days.ts'
import { openJoined } from './joined.ts'
import { openJoinedTallies } from './joined_tallies.ts'
import { openReportedNames } from './names.ts'
import { openReportedPrices } from './prices.ts'
import { type Charge, type Commission, openProceeds } from './proceeds.ts'
import { openReportRowsRead } from './report_rows.ts'
import { openSeams } from './seams.ts'
import { openShares } from './shares.ts'
import { openSources } from './sources.ts'
import { openSumming, type Piece } from './summing.ts'
import { openReportedSums } from './sums.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  products: Products
  rates: Rates
  imports: Imports
  settingsOf: SettingsOf
  lines: DayLines
  /** Read anew each time, so that a reload reaches it. */
  commission: Commission
  log: Log
}

/** Days read before they are written, and sums written in one unit of work. */
const DAYS_AT_ONCE = 12
const SUMS_AT_ONCE = 150

const DAY_MS = 86_400_000

/** A whole charge, of one unit. */
type ChargeInBase = Pick<Charge, 'app_id' | 'product_id' | 'currency' | 'milli' | 'at'> & {
  storefront: string | null
}

export type Reported = ReturnType<typeof openReported>

export function openReported(deps: Deps) {
  const { store, clock, apps, organizations, products, rates, imports, log } = deps
  const { settingsOf, lines, commission } = deps
  const days = openReportedDays(store)
  const sums = openReportedSums(store)
  const prices = openReportedPrices(store)
  const names = openReportedNames(store, products)
  const rows = openReportRowsRead(store)
  const summing = openSumming({ store, organizations, rates, settingsOf, days, rows, sums, prices, names })
  const proceeds = openProceeds(prices, commission)
  const sources = openSources({ store, settingsOf, sums, lines, names, proceeds, commission, baseOf })
  const shares = openShares({ store, baseOf, commission })
  const alike = openAlike(sources)
  const seams = openSeams({ store, clock, days, sums, alike })
  const joined = openJoined({ settingsOf, days, sums, sources, seams, alike, commission })
  const tallies = openJoinedTallies(joined, (app_id) => apps.get(app_id))
  const coverage = openCoverage({ baseOf, days, sums, sources, seams })
  let closing = false
  let working: Promise<void> | null = null

  /** By the rate of the day; null where there is none. */
  function baseOf(app_id: string, milli: number, currency: string, day: number): number | null {
    const app = apps.get(app_id)
    const base = (app && organizations.get(app.organization_id)?.currency) ?? ''
    return milli === 0 ? 0 : (rates.convert(milli, currency, base, dayText(day))?.milli ?? null)
  }

  /**
   * What is left of a charge in the base currency, by the rate of its day, and how surely that is known; null where there
   * is no rate. Whether it was after a year of paid service is not asked: where that matters, the average counts.
   */
  function proceedsInBase({ storefront, ...charge }: ChargeInBase) {
    const of = { ...charge, storefront: storefront ?? '', price_milli: charge.milli, is_after_a_year: null }
    const { milli, currency, basis } = proceeds.of(of)
    const base_milli = baseOf(charge.app_id, milli, currency, Math.floor(charge.at / DAY_MS))
    return base_milli === null ? null : { base_milli, basis }
  }

  imports.onDay(({ organization_id, kind, day }) => {
    if (kind === 'subscriber') return
    days.touch(organization_id, kind, day)
    store.afterCommit(work)
  })
  rates.onChange(({ is_taken_back }) => {
    if (is_taken_back) days.touchAll()
    else days.touchProvisional()
    store.afterCommit(work)
  })

  imports.onJoin(() => {
    resume().catch((error) =>
      log.error('the reports of an app that became known could not be summed', { error }),
    )
  })

  /** Sums what is due, in the background. What fails stays due, and is tried again with the next. */
  function work(): void {
    if (closing) return
    working ??= workAll()
      .catch((error) => log.error('Apple’s reports could not be summed', { error }))
      .finally(() => {
        working = null
      })
  }

  async function workAll(): Promise<void> {
    while (days.due(1).length > 0 && !closing) {
      const touched = await sumAll()
      for (const app of apps.list())
        if (!closing && touched.has(app.organization_id)) await seams.advance(app)
    }
  }

  /** Sums every day that is due; the organizations whose levels were among them. */
  async function sumAll(): Promise<Set<string>> {
    const touched = new Set<string>()
    for (let some = days.due(DAYS_AT_ONCE); some.length > 0 && !closing; some = days.due(DAYS_AT_ONCE)) {
      const pieces: Piece[] = []
      for (const due of some) {
        pieces.push(...(await summing.piecesOf(due)))
        if (due.kind === 'subscription') touched.add(due.organization_id)
        await setImmediate()
      }
      await writeAll(pieces)
    }
    return touched
  }

  /** In order, some to a unit of work, which stays short. */
  async function writeAll(pieces: readonly Piece[]): Promise<void> {
    for (let from = 0; from < pieces.length; ) {
      const begin = from
      from = await store.commit(() => {
        let at = begin
        for (let size = 0; size < SUMS_AT_ONCE && at < pieces.length; at += 1) {
          size += pieces[at]?.size ?? 0
          pieces[at]?.write()
        }
        return at
      })
      await setImmediate()
    }
  }

  /** Sees which days are not summed as they should be: after a crash, for another currency, where an app became known. */
  async function resume(): Promise<void> {
    await store.commit(() => {
      for (const { id } of organizations.list()) for (const kind of SUMMED_KINDS) compare(id, kind)
    })
    work()
  }

  function compare(organization_id: string, kind: (typeof SUMMED_KINDS)[number]): void {
    const kept = new Map(days.all(organization_id, kind).map((day) => [day.day_on, day.made_of]))
    for (const source of days.sources(organization_id, kind)) {
      const isSummed = kept.get(source.day_on) === summing.madeOf(organization_id, source)
      if (!isSummed) days.touch(organization_id, kind, source.day_on)
    }
  }

  /** Sums every day anew, while what was summed goes on being shown. */
  async function rebuild(): Promise<void> {
    await settled()
    await store.commit(() => days.touchAll())
    work()
    await settled()
  }

  /** Resolves once nothing waits to be summed. */
  async function settled(): Promise<void> {
    while (working) await working
  }

  /** Stops after the day that is being summed; what is due stays due. */
  async function close(): Promise<void> {
    closing = true
    await settled()
  }

  return {
    resume,
    rebuild,
    settled,
    close,
    /** Whether nothing waits to be summed. */
    isSettled: (): boolean => days.due(1).length === 0,
    read: joined.read,
    onlyReported: joined.onlyReported,
    readTallies: tallies.read,
    heardIn: tallies.heardIn,
    seamOf: seams.of,
    proceeds,
    proceedsInBase,
    onPrices: prices.onChange,
    shares,
    coverage: coverage.of,
  }
}
