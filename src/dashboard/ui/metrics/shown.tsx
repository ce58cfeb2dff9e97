/** What a metric's answer looks like: headline and chart with its legend, or a table. */
import type { JSX } from 'preact'
import { useApps } from '../apps.ts'
import { hueClass } from '../charts/colours.ts'
import { type Line, TimeChart } from '../charts/time_chart.tsx'
import { Delta } from '../parts/card.tsx'
import { Empty } from '../parts/states.tsx'
import { bucket, type Interval, shortDay, shortMonth } from '../words.ts'
import { figureOf, type MetricAnswer, wordsOf } from './answer.ts'
import type { Definition } from './definitions.ts'
import { type Drawn, drawn, headline, type Style, sumOf, wholesOf } from './lines.ts'
import { seamsOf } from './origins.ts'

const axisOf =
  (interval: Interval) =>
  (on: string): string =>
    interval === 'month' ? shortMonth(on) : shortDay(on)

type ShownProps = {
  answer: MetricAnswer
  definition: Definition | undefined
  title: string
  style: Style
  isInParts: boolean
  isTable: boolean
  isGoodDown: boolean
  height: number
  onCanvas: (canvas: HTMLCanvasElement | null) => void
}

export function Shown({
  answer,
  definition,
  title,
  style,
  isInParts,
  isTable,
  isGoodDown,
  height,
  onCanvas,
}: ShownProps): JSX.Element {
  const apps = useApps().data?.apps ?? []
  const shape = drawn(answer, definition, apps, { style, isInParts })
  const on = answer.series[0]?.points.map((point) => point.on) ?? []
  const { words, short } = wordsOf(answer)
  const isNothing = shape.lines.every(({ values }) => values.every((value) => value === null || value === 0))
  const titleAt = (day: string): string => bucket(day, answer.interval)
  if (isTable) return <Table shape={shape} on={on} words={words} interval={answer.interval} title={title} />
  return (
    <>
      <Headline answer={answer} words={words} isGoodDown={isGoodDown} />
      {isNothing ? (
        <div style={{ height: `${height}px` }}>
          <Empty icon="chart" title="Nothing in these days">
            <p>
              {answer.first_on === null
                ? 'Nothing is known of these apps yet. It comes with Apple’s first notification, or with the import.'
                : 'Choose more days, or other apps.'}
            </p>
          </Empty>
        </div>
      ) : (
        <TimeChart
          label={`${title}, ${titleAt(on[0] ?? '')} to ${titleAt(on.at(-1) ?? '')}`}
          on={on}
          complete={shape.complete}
          lines={shape.lines}
          isStacked={shape.isStacked}
          words={words}
          short={short}
          axis={axisOf(answer.interval)}
          title={titleAt}
          seams={seamsOf(answer)}
          height={height}
          onCanvas={onCanvas}
        />
      )}
      {shape.lines.length > 1 && (
        <Legend lines={shape.lines} words={words} kind={answer.kind} unit={answer.unit} />
      )}
    </>
  )
}

function Headline({
  answer,
  words,
  isGoodDown,
}: {
  answer: MetricAnswer
  words: (value: number | null) => string
  isGoodDown: boolean
}): JSX.Element | null {
  if (answer.split !== null) return null
  const { value, under } = headline(answer)
  const points = wholesOf(answer)[0]?.points ?? []
  const first = figureOf(points[0], answer.unit)
  const before = answer.previous
    ? headline({ ...answer, series: answer.previous.series }).value
    : answer.kind === 'level' && answer.unit !== 'ratio'
      ? first
      : null
  const against = answer.previous ? 'against the time before' : 'since the first day shown'
  return (
    <p class="figure-row">
      <span class="figure">{words(value)}</span>
      {value !== null && before !== null && before !== 0 && (
        <Delta now={value} before={before} isGoodUp={!isGoodDown} against={against} />
      )}
      <span class="tiny quiet">
        {under !== ''
          ? bucket(under, answer.interval)
          : answer.kind === 'level'
            ? answer.previous
              ? ''
              : against
            : 'in the days shown'}
      </span>
    </p>
  )
}

type LegendProps = {
  lines: readonly Line[]
  words: (value: number | null) => string
  kind: 'level' | 'flow'
  unit: MetricAnswer['unit']
}
/** What each colour is, with its last value or its sum. */
const Legend = ({ lines, words, kind, unit }: LegendProps): JSX.Element => (
  <ul class="legend">
    {lines.map((line) => (
      <li key={line.key}>
        <span class={`swatch ${line.isBefore ? 'dashed' : ''} ${hueClass(line.hue)}`} />
        <span class="cut">{line.title}</span>
        <strong>
          {words(
            kind === 'flow' && unit !== 'ratio'
              ? sumOf(line.values)
              : (line.values.findLast((value) => value !== null) ?? null),
          )}
        </strong>
      </li>
    ))}
  </ul>
)

type TableProps = {
  shape: Drawn
  on: string[]
  words: (value: number | null) => string
  interval: Interval
  title: string
}
/** The same figures as a table, newest first. */
const Table = ({ shape, on, words, interval, title }: TableProps): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <section class="table-wrap tall" tabIndex={0} aria-label={`${title} as a table`}>
    <table class="table">
      <thead>
        <tr>
          <th scope="col">{interval === 'day' ? 'Day' : interval === 'week' ? 'Week' : 'Month'}</th>
          {shape.lines.map((line) => (
            <th key={line.key} scope="col" class="number">
              {line.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {on.map((_, back) => {
          const index = on.length - 1 - back
          return (
            <tr key={on[index]}>
              <th scope="row">
                {bucket(on[index] ?? '', interval)}
                {!shape.complete[index] && <span class="quiet"> (incomplete)</span>}
              </th>
              {shape.lines.map((line) => (
                <td key={line.key} class="number">
                  {words(line.values[index] ?? null)}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  </section>
)
