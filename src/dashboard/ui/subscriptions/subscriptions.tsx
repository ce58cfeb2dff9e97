/** What recurs: MRR, what moved it, and how many pay. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { MetricCard } from '../metrics/metric_card.tsx'

export const Subscriptions = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Subscriptions</h1>
      </header>
      <MetricCard name="mrr" height={300} />
      <MetricCard name="mrr_movements" isInParts height={300} />
      <div class="grid">
        <MetricCard name="active_subscriptions" class="half" />
        <MetricCard name="churn_rate" class="half" />
        <MetricCard name="mrr_churn_rate" class="half" />
        <MetricCard name="quick_ratio" class="half" />
        <MetricCard name="arr" class="half" />
        <MetricCard name="net_new_mrr" class="half" />
      </div>
    </main>
  </>
)
