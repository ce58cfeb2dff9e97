/** The trials and retention view. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import { Arppu } from '../cohorts/arppu.tsx'
import { cohortParams } from '../cohorts/cohort_card.tsx'
import { LTV_PARAMS, Ltv } from '../cohorts/ltv.tsx'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { ViewHead } from '../metrics/view_head.tsx'
import { Funnel } from './funnel.tsx'
import { RETENTION_PARAMS, RetentionTable } from './retention_table.tsx'

/** The metrics of the view. */
const METRICS = [
  'active_trials',
  'new_trials',
  'trial_conversion',
  'downloads',
  'first_payments',
  'retention',
  'ltv',
  'arppu',
]

const PARAMS = {
  ...metricCardParams('trial_conversion', 'cohort', 'new_trials', 'active_trials'),
  ...cohortParams('arppu'),
  ...LTV_PARAMS,
  ...RETENTION_PARAMS,
}

export const Retention = (): JSX.Element => (
  <>
    <ScopeBar />
    <main class="page" id="content">
      <UnusedNotice params={PARAMS} />
      <ViewHead title="Trials &amp; retention" metrics={METRICS} />
      <RequireFigures>
        <div class="grid">
          <Funnel class="half" />
          <MetricCard name="trial_conversion" class="half" />
          <MetricCard
            name="trial_conversion"
            paramPrefix="cohort"
            title="Trial outcomes"
            query={{ view: 'cohort' }}
            isInParts
            class="half"
          />
          <MetricCard name="new_trials" class="half" />
          <MetricCard name="active_trials" isCompared class="half" />
          <Arppu class="half" />
        </div>
        <RetentionTable />
        <Ltv />
      </RequireFigures>
    </main>
  </>
)
