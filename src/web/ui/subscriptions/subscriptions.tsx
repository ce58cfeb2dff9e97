/** The subscriptions view. The other metrics of subscriptions are in the list of all metrics. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import { CHART_PARAMS } from '../charts/card_params.ts'
import { cohortParams } from '../cohorts/cohort_card.tsx'
import { Recovery } from '../cohorts/recovery.tsx'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { cardParams } from '../frame/unused_params.ts'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { ViewHead } from '../metrics/view_head.tsx'
import { ANY } from '../scope.ts'
import { AT_RISK_PARAMS, AtRisk } from './at_risk.tsx'
import { Churn } from './churn.tsx'
import { KeyFigures, KeyFiguresExport } from './key_figures.tsx'
import { StatusBreakdown } from './status_breakdown.tsx'
import { Waterfall } from './waterfall.tsx'

/** The metrics of the view. */
const METRICS = [
  'mrr',
  'arr',
  'mrr_movements',
  'net_new_mrr',
  'quick_ratio',
  'churn_rate',
  'mrr_churn_rate',
  'active_subscriptions',
  'status',
  'mrr_at_risk',
  'recovery',
]

const PARAMS = {
  ...metricCardParams('mrr'),
  ...cardParams(['churn'], CHART_PARAMS),
  ...cohortParams('recovery'),
  ...AT_RISK_PARAMS,
  'waterfall.view': ANY,
}

export const Subscriptions = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <UnusedNotice params={PARAMS} />
      <ViewHead title="Subscriptions" metrics={METRICS} tools={<KeyFiguresExport />} />
      <RequireFigures>
        <KeyFigures />
        <div class="grid">
          <Churn class="half" />
          <div class="half">
            <Waterfall />
          </div>
        </div>
        <MetricCard name="mrr" isCompared height={300} />
        <div class="grid">
          <div class="half half-stack">
            <StatusBreakdown />
            <Recovery />
          </div>
          <AtRisk class="half" />
        </div>
      </RequireFigures>
    </main>
  </>
)
