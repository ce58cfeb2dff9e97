/** Opens and wires the modules that compute and store figures. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Products } from '../apps/products.ts'
import type { Clock } from '../clock.ts'
import type { Feed } from '../events/feed.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { Log } from '../log.ts'
import type { Rates } from '../rates/rates.ts'
import type { Stoppages } from '../stoppages.ts'
import type { Store } from '../store/store.ts'
import { openCohorts } from './cohorts/cohorts.ts'
import { openContributions } from './cohorts/contributions.ts'
import { openUnconvertedCohorts } from './cohorts/unconverted.ts'
import { openCustomers } from './customers/customers.ts'
import type { Enrichment } from './customers/enrichment.ts'
import { openEventNames } from './customers/event_names.ts'
import type { IsErased } from './customers/histories.ts'
import { openCustomerValues } from './customers/values.ts'
import { openEffects } from './effects/effects.ts'
import type { Factors } from './lineage/months.ts'
import { openCountingSettings } from './lineage/settings.ts'
import { openMetrics } from './metrics.ts'
import { openRefundLists } from './refunds/refunds.ts'
import type { Commission } from './reports/proceeds.ts'
import { openReported } from './reports/reported.ts'
import { openOverview } from './series/overview.ts'
import { openSeries } from './series/series.ts'
import { openToday } from './series/today.ts'
import { openCube } from './sums/cube.ts'
import { openDaySumCache } from './sums/day_sum_cache.ts'
import { openGenerations } from './upkeep/generations.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  products: Products
  rates: Rates
  ledger: Ledger
  imports: Imports
  feed: Feed
  log: Log
  stoppages: Pick<Stoppages, 'watch'>
  factors: Factors
  /**
   * The commission, how long a request waits for figures, and the attribute that names a user. Read on each use, so that
   * a reload applies.
   */
  config: Commission & { wait_ms: number; name_attribute: string }
  isErased: IsErased
  /** The version of the formulas; by default this program’s version. */
  formula?: number
}

export type Figures = ReturnType<typeof openFigures>

export function openFigures({ config, isErased, feed, ...deps }: Deps) {
  const { store, clock, apps, products, rates, ledger, log, stoppages } = deps
  const generations = openGenerations(deps)
  const cube = openCube(store)
  const daySums = openDaySumCache(store)
  const reporting = { store, clock, apps, products, rates, generations, daySums, log, stoppages }
  const reported = openReported({ ...reporting, commission: config })
  const { proceedsOf } = reported
  const settings = openCountingSettings({ store, apps, generations, products, rates, proceedsOf })
  const values = openCustomerValues({ store, clock, generations })
  const contributions = openContributions({ store, settings })
  const metrics = openMetrics({
    ...deps,
    generations,
    settings,
    cube,
    values,
    contributions,
    reported,
    commissionText: () => commissionText(config),
    wait_ms: () => config.wait_ms,
  })
  // Hooks between the modules of this folder; app.ts connects the hooks to other folders.
  cube.onWritten(daySums.applyWritten)
  reported.onPrices(metrics.pricesChanged)
  reported.onSummed(metrics.kick)
  reported.holdCutovers((app_id) => !metrics.isCurrent(app_id))
  const series = openSeries({ store, clock, metrics, settings, daySums, rates, reported })
  const readers = { metrics, values, isErased, nameAttribute: () => config.name_attribute }
  const customers = openCustomers({ store, clock, feed, ledger, ...readers })
  const effects = openEffects({ store, clock, settingsOf: settings.settingsOf })

  /** Stops the work in progress, which resumes at the next start. */
  async function close(): Promise<void> {
    await Promise.all([metrics.close(), reported.close(), series.close()])
  }

  return {
    metrics,
    reported,
    series,
    customers,
    /** Adds the effects on MRR and the names of customers to the events that people read. */
    described: (enrichment: Enrichment) => openEventNames(customers).around(effects.around(enrichment)),
    refundLists: openRefundLists({ store, clock, generations, settings, reported }),
    overview: openOverview({ metrics, series }),
    today: openToday({ store, clock, series }),
    cohorts: openCohorts({
      cells: contributions.cells,
      unconverted: openUnconvertedCohorts({ store, values, settings }),
      proceedsOfLedger: reported.proceedsOfLedger,
      observedFrom: reported.observedFrom,
    }),
    closeFigures: close,
  }
}

const commissionText = ({
  commission_percent,
  commission_after_a_year_percent,
  small_business,
}: Commission): string =>
  JSON.stringify({ commission_percent, commission_after_a_year_percent, small_business })
