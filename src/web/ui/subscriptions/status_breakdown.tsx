/** Current subscriptions by status, with MRR at risk. */
import type { JSX } from 'preact'
import { hueClass } from '../charts/colours.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { useInView } from '../loading/use_in_view.ts'
import { partFigure, sumOf } from '../metrics/figures.ts'
import { HUES } from '../metrics/lines.ts'
import { About } from '../metrics/metric_card.tsx'
import { useMetric } from '../metrics/metric_query.ts'
import { Amount } from '../parts/amount.tsx'
import { Card } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { useScope } from '../scope.ts'
import { count, money, share } from '../words.ts'

/** `many`: null if unknown. `milli`: MRR at risk; null if unknown or hidden. */
type State = {
  name: string
  title: string
  sentence: string
  many: number | null
  milli: number | null
  isAtRisk: boolean
}

const shareOf = (many: number | null, total: number | null): number | null =>
  many === null || !total ? null : many / total

const Shares = ({ states, total }: { states: State[]; total: number | null }): JSX.Element => (
  <span class="shares" aria-hidden="true">
    {states.map(({ name, many }) => (
      <span
        key={name}
        class={hueClass(HUES[name] ?? 8)}
        style={{ width: `${(shareOf(many, total) ?? 0) * 100}%` }}
      />
    ))}
  </span>
)

const Table = ({
  states,
  total,
  currency,
}: {
  states: State[]
  total: number | null
  currency: string | null
}): JSX.Element => (
  <Scroll label="Subscriptions by status">
    <table class="table at-risk">
      <TableHead
        headings={[
          { title: 'Status' },
          { title: 'Subscriptions', isNumber: true },
          { title: 'Share', isNumber: true, class: 'wide-only' },
          { title: 'MRR at risk', isNumber: true },
        ]}
      />
      <tbody>
        {states.map(({ name, title, sentence, many, milli, isAtRisk }) => (
          <tr key={name}>
            <th scope="row" title={sentence}>
              <span class={`swatch inline ${hueClass(HUES[name] ?? 8)}`} /> {title}
            </th>
            <td class="number">{count(many)}</td>
            <td class="number quiet wide-only">{share(shareOf(many, total))}</td>
            <td class="number">{isAtRisk && money(milli, currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

export function StatusBreakdown(): JSX.Element | null {
  const { href } = useScope()
  const { isInView, ref } = useInView()
  const status = useMetric('status', { compare: null }, isInView)
  const risk = useMetric('mrr_at_risk', { compare: null }, isInView)
  if (!status.definition) return null
  const { definition } = status
  return (
    <Card
      title={<a href={href('/metrics/status')}>Status now</a>}
      plainTitle="Status now"
      cardRef={ref}
      tools={<ExportMenu csvUrls={status.csvUrls} />}
      about={<About definition={definition} answer={status.result.data} />}
    >
      <QueryView result={status.result} height={260}>
        {(answer) => {
          const states = definition.parts.map(({ name, title, sentence }) => ({
            name,
            title,
            sentence,
            many: partFigure(answer, name),
            milli: risk.result.data ? partFigure(risk.result.data, name) : null,
            isAtRisk: name !== 'renewing' && !risk.isHidden,
          }))
          const total = sumOf(states.map(({ many }) => many))
          const atRisk = risk.result.data ? partFigure(risk.result.data, null) : null
          return (
            <>
              {!risk.isHidden && (
                <p class="figure-row">
                  <span class="figure">
                    <Amount milli={atRisk} currency={risk.result.data?.currency ?? null} />
                  </span>
                  <span class="tiny quiet">of MRR at risk</span>
                </p>
              )}
              <Shares states={states} total={total} />
              <Table states={states} total={total} currency={risk.result.data?.currency ?? null} />
            </>
          )
        }}
      </QueryView>
    </Card>
  )
}
