/** The subscriptions view. */
import type { JSX } from 'preact'
import { Recovery } from '../cohorts/recovery.tsx'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { useDefinition } from '../metrics/definitions.ts'
import { MetricCard } from '../metrics/metric_card.tsx'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { ViewHead } from '../metrics/view_head.tsx'
import { AtRisk } from './at_risk.tsx'
import { Churn } from './churn.tsx'
import { StatusBreakdown } from './status_breakdown.tsx'
import { Waterfall } from './waterfall.tsx'

/** The status of subscriptions over time. */
const StatusHistory = (): JSX.Element | null =>
  useDefinition('status') ? (
    <>
      <MetricCard name="status" isInParts class="half" />
      <MetricCard name="mrr_at_risk" isInParts class="half" />
    </>
  ) : null

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

export const Subscriptions = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <ViewHead title="Subscriptions" metrics={METRICS} />
      <RequireFigures>
        <MetricCard name="mrr" height={300} />
        <div class="grid">
          <div class="half">
            <Waterfall />
          </div>
          <Churn class="half" />
        </div>
        <MetricCard name="mrr_movements" isInParts height={300} />
        <div class="grid">
          <StatusBreakdown class="half" />
          <AtRisk class="half" />
          <StatusHistory />
          <Recovery class="half" />
          <MetricCard name="active_subscriptions" class="half" />
          <MetricCard name="churn_rate" isInParts class="half" />
          <MetricCard name="mrr_churn_rate" isInParts class="half" />
          <MetricCard name="net_new_mrr" class="half" />
          <MetricCard name="quick_ratio" class="half" />
          <MetricCard name="arr" class="half" />
        </div>
      </RequireFigures>
    </main>
  </>
)
