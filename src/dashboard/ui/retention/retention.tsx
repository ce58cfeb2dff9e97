/** Who stays: trials that convert, and cohorts. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { MetricCard } from '../metrics/metric_card.tsx'

export const Retention = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Trials &amp; retention</h1>
      </header>
      <div class="grid">
        <MetricCard name="new_trials" class="half" />
        <MetricCard name="active_trials" class="half" />
        <MetricCard name="trial_conversion" class="half" />
      </div>
    </main>
  </>
)
