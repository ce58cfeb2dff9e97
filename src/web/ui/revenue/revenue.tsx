/** The revenue view. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import { useCardParams } from '../charts/card_params.ts'
import { Arppu } from '../cohorts/arppu.tsx'
import { cohortParams } from '../cohorts/cohort_card.tsx'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { latePart } from '../loading/late.tsx'
import { Breakdown, breakdownParams } from '../metrics/breakdown.tsx'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { RefundDays } from '../metrics/tools.tsx'
import { ViewHead } from '../metrics/view_head.tsx'
import { ANY } from '../scope.ts'
import { NetRevenue } from './net_revenue.tsx'

/** Few vendors have apps that are not connected, so the view does not wait for the code. */
const Unconnected = latePart('This part', () =>
  import('./unconnected.tsx').then((module) => module.Unconnected),
)

const PARAMS = {
  ...metricCardParams('revenue', 'refund_rate'),
  ...cohortParams('arppu'),
  ...breakdownParams(
    'revenue.product',
    'revenue.country',
    'revenue.app',
    'revenue.offer',
    'refund_rate.product',
  ),
  'revenue.refunds': ANY,
  'revenue.part': ANY,
}

export function Revenue(): JSX.Element {
  const [param, change] = useCardParams('revenue')
  const refunds = param('refunds')
  const part = param('part')
  return (
    <>
      <ScopeBar />
      <main class="page" id="content">
        <UnusedNotice params={PARAMS} />
        <ViewHead title="Revenue" metrics={['revenue', 'refund_rate', 'arppu']} />
        <RequireFigures>
          <NetRevenue />
          <Unconnected isInRange />
          <MetricCard
            name="revenue"
            isInParts={part === null}
            isCompared
            query={{ refunds, part }}
            height={320}
            tools={<RefundDays value={refunds} onPick={(day) => change('refunds', day)} />}
          />
          <div class="grid">
            <Breakdown name="revenue" split="product" query={{ refunds }} class="third" />
            <Breakdown name="revenue" split="country" query={{ refunds }} class="third" />
            <Breakdown name="revenue" split="app" query={{ refunds }} class="third" />
            <MetricCard name="refund_rate" class="half" />
            <Arppu class="half" />
            <Breakdown name="refund_rate" split="product" title="Refund rate by product" class="half" />
            <Breakdown name="revenue" split="offer" title="Offers" query={{ refunds }} class="half" />
          </div>
        </RequireFigures>
      </main>
    </>
  )
}
