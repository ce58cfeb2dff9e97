/** The first view of a guest whose link is limited to some metrics: each of them as a card. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import { Arppu } from '../cohorts/arppu.tsx'
import { LTV_PARAMS, Ltv } from '../cohorts/ltv.tsx'
import { Recovery } from '../cohorts/recovery.tsx'
import type { ViewParams } from '../frame/unused_params.ts'
import { useDefinitions } from '../metrics/definitions.ts'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { RETENTION_PARAMS, RetentionTable } from '../retention/retention_table.tsx'
import { useSession } from '../session.ts'
import { GuestPage } from './guest_page.tsx'

const COHORT_CARDS: Record<string, () => JSX.Element> = {
  retention: () => <RetentionTable />,
  ltv: () => <Ltv />,
  arppu: () => <Arppu />,
  recovery: () => <Recovery />,
}

const paramsOf = (names: readonly string[]): ViewParams => ({
  ...metricCardParams(...names),
  ...(names.includes('ltv') && LTV_PARAMS),
  ...(names.includes('retention') && RETENTION_PARAMS),
})

export function SharedMetrics(): JSX.Element {
  const { metrics } = useSession()
  const definitions = useDefinitions()
  const names = metrics ?? []
  return (
    <GuestPage params={paramsOf(names)}>
      <QueryView result={definitions} height={240}>
        {(all) => (
          <div class="grid">
            {all.map(({ name, views }) => (
              <MetricCard
                key={name}
                name={name}
                isInParts={name === 'revenue' || views.length > 0}
                isCompared
                class={names.length > 1 ? 'half' : ''}
              />
            ))}
            {names.map((name) => {
              const Cohort = COHORT_CARDS[name]
              return Cohort && <Cohort key={name} />
            })}
          </div>
        )}
      </QueryView>
    </GuestPage>
  )
}
