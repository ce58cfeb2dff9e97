/** What came in: charged, refunded, and what is left of it. */
import type { JSX } from 'preact'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { MetricCard } from '../metrics/metric_card.tsx'

export const Revenue = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <header class="page-head">
        <h1>Revenue</h1>
      </header>
      <MetricCard name="revenue" isInParts height={300} />
      <div class="grid">
        <MetricCard name="refund_rate" class="half" />
      </div>
    </main>
  </>
)
