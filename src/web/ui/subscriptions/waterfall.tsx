/** The MRR waterfall, as a table with bars. */
import type { JSX } from 'preact'
import { useCardParams } from '../charts/card_params.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { savePicture } from '../charts/picture.ts'
import { useInView } from '../loading/use_in_view.ts'
import type { Definition } from '../metrics/definitions.ts'
import { daysText, totalsOf } from '../metrics/figures.ts'
import { figureOf, type MetricAnswer } from '../metrics/metric_answer.ts'
import { About } from '../metrics/metric_card.tsx'
import { useMetric } from '../metrics/metric_query.ts'
import { Card } from '../parts/card.tsx'
import { Segments } from '../parts/popover.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { useScope } from '../scope.ts'
import { count, plusDays, shortDay } from '../words.ts'
import { cutAxisNote, waterfallBody } from './waterfall_picture.ts'
import {
  amountOf,
  kindOf,
  type Movement,
  type Scale,
  type Step,
  scaleOf,
  stepsOf,
} from './waterfall_steps.ts'

const WIDTH = 1000
const HEIGHT = 30
const INSET = 6

/** The bar of a step with its connector lines. */
function Bar({ step, scale, isLast }: { step: Step; scale: Scale; isLast: boolean }): JSX.Element {
  const x = (milli: number): number => scale.share(milli) * WIDTH
  const from = step.isLevel ? 0 : x(Math.min(step.from, step.to))
  const to = x(Math.max(step.from, step.to))
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {step.milli !== null && (
        <rect
          class={kindOf(step)}
          x={from}
          width={Math.max(2, to - from)}
          y={INSET}
          height={HEIGHT - 2 * INSET}
          rx="1"
        />
      )}
      {step.isLevel && step.milli !== null && scale.isCut && (
        <path class="cut-mark" d={`M70 ${HEIGHT}L110 0`} />
      )}
      {!step.isLevel && <path class="lead" d={`M${x(step.from)} 0V${INSET}`} />}
      {!isLast && <path class="lead" d={`M${x(step.to)} ${HEIGHT - INSET}V${HEIGHT}`} />}
    </svg>
  )
}

const GROSS_ONLY = 'gross, because the proceeds of a single movement are not known'

type TableProps = { steps: Step[]; currency: string | null }

function WaterfallTable({ steps, currency }: TableProps): JSX.Element {
  const scale = scaleOf(steps)
  return (
    <>
      <table class="waterfall">
        <TableHead
          headings={[
            { title: <span class="spoken">Movement</span> },
            { title: <span class="spoken">Chart</span> },
            { title: 'MRR', isNumber: true },
            { title: 'Subscriptions', isNumber: true, class: 'many' },
          ]}
        />
        <tbody>
          {steps.map((step, index) => (
            <tr key={step.name} class={step.isLevel ? 'is-whole' : ''}>
              <th scope="row" title={step.sentence || undefined}>
                {step.title}
              </th>
              <td class="drawn">
                <Bar step={step} scale={scale} isLast={index === steps.length - 1} />
              </td>
              <td class="number">{amountOf(step, currency)}</td>
              <td class="number quiet many">
                {step.count === null || step.count === 0 ? '' : count(step.count)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {scale.isCut && <p class="tiny quiet">{cutAxisNote(scale.low, currency)}</p>}
    </>
  )
}

/** The movements that occurred, in the definition's order. */
function movementsOf(answer: MetricAnswer, definition: Definition | undefined): Movement[] {
  return (definition?.parts ?? []).flatMap(({ name, title, sentence }) => {
    const series = answer.series.find(({ part }) => part === name)
    if (!series) return []
    const { milli, count } = series.range
    return [{ name, title, sentence, milli: milli ?? null, count: count ?? null }]
  })
}

/** MRR right before the first day and at the end of the last day; null if unknown. */
function startAndEnd(mrr: MetricAnswer) {
  const levelIn = (days: Pick<MetricAnswer, 'series'> | null): number | null =>
    figureOf(days ? totalsOf(days)[0]?.range : undefined, 'money')
  const { from_on, until_on, today_on } = mrr
  return {
    start: levelIn(mrr.previous),
    end: levelIn(mrr),
    startTitle: `MRR on ${shortDay(plusDays(from_on, -1))}`,
    endTitle: until_on >= today_on ? 'MRR now' : `MRR on ${shortDay(until_on)}`,
  }
}

export function Waterfall(): JSX.Element | null {
  const { scope, href } = useScope()
  const [param, change] = useCardParams('waterfall')
  const view = param('view')
  const { isInView, ref, isLoaded } = useInView()
  const { result, definition, csvUrls, isHidden } = useMetric(
    'mrr_movements',
    { view, compare: null },
    isInView,
  )
  // Movements exist only as gross.
  const mrr = useMetric('mrr', { basis: null, compare: 'start' }, isInView)
  if (isHidden) return null
  const combined = {
    ...mrr.result,
    data: result.data && mrr.result.data ? { movements: result.data, mrr: mrr.result.data } : undefined,
    problem: result.problem ?? mrr.result.problem,
    isPrevious: result.isPrevious || mrr.result.isPrevious,
  }
  isLoaded.current = combined.data !== undefined && !combined.isPrevious
  const subtitle = (level: MetricAnswer): string =>
    `${daysText(level)}${scope.basis === 'proceeds' ? `, ${GROSS_ONLY}` : ''}`
  const stepsIn = ({ movements, mrr: level }: { movements: MetricAnswer; mrr: MetricAnswer }): Step[] =>
    stepsOf(movementsOf(movements, definition), startAndEnd(level))
  const picture =
    ({ movements, mrr: level }: NonNullable<typeof combined.data>) =>
    (): void =>
      savePicture(
        { title: 'What moved MRR', subtitle: subtitle(level), name: 'mrr_movements' },
        waterfallBody(stepsIn({ movements, mrr: level }), movements.currency),
      )
  return (
    <Card
      title={<a href={href('/metrics/mrr_movements')}>What moved MRR</a>}
      plainTitle="What moved MRR"
      cardRef={ref}
      about={definition && <About definition={definition} answer={result.data} />}
      tools={
        <>
          <Segments
            title="View"
            value={view ?? definition?.views[0]?.name ?? ''}
            choices={(definition?.views ?? []).map(({ name, title }) => ({ value: name, title }))}
            onPick={(name) => change('view', name === definition?.views[0]?.name ? null : name)}
          />
          <ExportMenu csvUrls={csvUrls} savePng={combined.data ? picture(combined.data) : null} />
        </>
      }
    >
      <QueryView result={combined} height={360}>
        {(answer) => (
          <>
            <p class="small quiet">{subtitle(answer.mrr)}</p>
            <WaterfallTable steps={stepsIn(answer)} currency={answer.movements.currency} />
          </>
        )}
      </QueryView>
    </Card>
  )
}
