/** How a widget looks on a phone: small, medium, large, and on the lock screen. */
import type { JSX } from 'preact'
import { QueryView } from '../../parts/query_view.tsx'
import { type Figures, useFigures, type Widget } from './widget_queries.ts'

const ROWS = { small: 2, medium: 2, large: 4 } as const
type Size = keyof typeof ROWS
const SPARK = { width: 90, height: 30 } as const

const textAt = (figures: Figures, name: string): string => String(figures[name] ?? '')

function Spark({ values }: { values: readonly (number | null)[] }): JSX.Element {
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const step = SPARK.width / Math.max(1, values.length - 1)
  const points = values.flatMap((value, index) =>
    value === null
      ? []
      : [
          `${(index * step).toFixed(1)},${(SPARK.height - ((value - low) / (high - low || 1)) * SPARK.height).toFixed(1)}`,
        ],
  )
  return (
    <svg class="widget-spark" viewBox={`-1 -1 ${SPARK.width + 2} ${SPARK.height + 2}`} aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  )
}

function Row({ figures, name, isWide }: { figures: Figures; name: string; isWide: boolean }): JSX.Element {
  const change = Number(figures[`${name}_change`] ?? 0)
  const changeText = textAt(figures, `${name}_change_text`)
  return (
    <div class="widget-row">
      <div class="widget-words">
        <div class="tiny quiet cut">
          {textAt(figures, `${name}_title`)}
          {changeText !== '' && <span class={change < 0 ? 'bad' : 'good'}> {changeText}</span>}
        </div>
        <div class="widget-value">{textAt(figures, `${name}_${isWide ? 'text' : 'short'}`)}</div>
      </div>
      {isWide && <Spark values={(figures[`${name}_spark`] ?? []) as (number | null)[]} />}
    </div>
  )
}

const Home = ({ figures, size }: { figures: Figures; size: Size }): JSX.Element => (
  <figure class="widget-sample">
    <div class={`widget-home ${size}`}>
      <div class="tiny strong cut">{figures.name}</div>
      {figures.metrics.slice(0, ROWS[size]).map((name) => (
        <Row key={name} figures={figures} name={name} isWide={size !== 'small'} />
      ))}
      <div class="tiny quiet widget-time">{figures.stale ? 'catching up' : figures.updated_at_text}</div>
    </div>
    <figcaption class="tiny quiet">{size}</figcaption>
  </figure>
)

function Lock({ figures }: { figures: Figures }): JSX.Element {
  const lines = figures.metrics.slice(0, 2)
  const [first = ''] = lines
  return (
    <figure class="widget-sample">
      <div class="widget-lock">
        <div class="widget-round">{textAt(figures, `${first}_short`)}</div>
        <div class="widget-lines">
          {lines.map((name) => (
            <div key={name} class="cut">
              {textAt(figures, `${name}_title`)} {textAt(figures, `${name}_short`)}
            </div>
          ))}
        </div>
      </div>
      <figcaption class="tiny quiet">lock screen</figcaption>
    </figure>
  )
}

/** A widget with its live figures, in every size. */
export function WidgetPreview({ widget }: { widget: Widget }): JSX.Element {
  const result = useFigures(widget.id)
  return (
    <QueryView result={result} height={200}>
      {(figures) => (
        <div class="widget-samples">
          <Home figures={figures} size="small" />
          <Home figures={figures} size="medium" />
          <Home figures={figures} size="large" />
          <Lock figures={figures} />
        </div>
      )}
    </QueryView>
  )
}
