/** A metric by one of its splits: the largest values with share and change. */
import type { JSX } from 'preact'
import { useApps } from '../apps.ts'
import { useCardParams } from '../charts/card_params.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { Flag } from '../countries/flag.tsx'
import { cardParams, type ViewParams } from '../frame/unused_params.ts'
import type { Query } from '../http.ts'
import { useInView } from '../loading/use_in_view.ts'
import { AppMark } from '../marks/app_mark.tsx'
import { Card, Delta } from '../parts/card.tsx'
import { Segments } from '../parts/popover.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { useScope } from '../scope.ts'
import { count, share } from '../words.ts'
import { asCount, comparedText, isAmountOfChange } from './figures.ts'
import { formattersOf, isHigherBetter, isPercentage, type MetricAnswer } from './metric_answer.ts'
import { useMetric } from './metric_query.ts'
import { MIN_SHARE_BEFORE, ORDERS, type Order, type RankedRow, rankingOf } from './ranking.ts'
import { uncomparedText, withoutUnknownPrevious } from './shown_points.ts'

export const SPLIT_NOUNS: Record<string, string> = {
  app: 'Apps',
  product: 'Products',
  country: 'Countries',
  period: 'Periods',
  offer: 'Offers',
  currency: 'Currencies',
}
/**
 * How many values are requested: more than are shown, so that the previous figures of the shown values are included.
 */
const MAX_VALUES = 25
/** The API's limit. Growth is ranked among so many values. */
const MAX_RANKED = 100

/** The URL parameters of breakdowns, such as those of `revenue.country`. */
export const breakdownParams = (...prefixes: string[]): ViewParams => cardParams(prefixes, { order: ORDERS })

const ORDER_TITLES: Record<Order, string> = { size: 'Size', growth: 'Growth' }
const ORDER_CHOICES = ORDERS.map((value) => ({ value, title: ORDER_TITLES[value] }))

const Bar = ({ fraction }: { fraction: number }): JSX.Element => (
  <span class="track" aria-hidden="true">
    <span class={fraction < 0 ? 'fill bad' : 'fill'} style={{ width: `${Math.abs(fraction) * 100}%` }} />
  </span>
)

type RowProps = { row: RankedRow; answer: MetricAnswer; href: string | null }

function Row({ row, answer, href }: RowProps): JSX.Element {
  const { format, formatChange } = formattersOf(answer)
  const { figure, before } = row
  const name = (
    <>
      {answer.split === 'country' && <Flag code={row.value} />}
      {answer.split === 'app' && row.value && <AppMark id={row.value} />}
      {row.title}
    </>
  )
  const isAmount = row.isBaseSmall || isAmountOfChange(answer.metric, figure ?? 0, before ?? 0)
  return (
    <li class={row.isUncertain ? 'is-few' : undefined}>
      <span class="what">
        {href ? (
          <a href={href} title={row.value ?? undefined}>
            {name}
          </a>
        ) : (
          <span>{name}</span>
        )}
        <span class="figures">
          {figure !== null && before !== null && (
            <Delta
              now={figure}
              before={before}
              isHigherBetter={isHigherBetter(answer.metric)}
              isPercentage={isPercentage(answer)}
              against={comparedText(answer)}
              format={isAmount && before !== 0 ? formatChange : null}
            />
          )}
          {row.denominator !== null && <span class="tiny quiet number">n = {count(row.denominator)}</span>}
          {before === 0 && answer.previous && answer.unit !== 'ratio' && <span class="badge">new</span>}
          <strong class="number">{format(figure)}</strong>
        </span>
      </span>
      <Bar fraction={row.bar} />
      {row.share !== null && <span class="tiny quiet number">{share(row.share)}</span>}
    </li>
  )
}

type ToolsProps = {
  title: string
  order: Order
  csvUrls: Parameters<typeof ExportMenu>[0]['csvUrls']
  /** Receives null for the default order. */
  onOrder: (order: Order | null) => void
}

const Tools = ({ title, order, csvUrls, onOrder }: ToolsProps): JSX.Element => (
  <>
    <Segments
      title={`Sort ${title.toLowerCase()} by`}
      value={order}
      choices={ORDER_CHOICES}
      onPick={(value) => onOrder(value === 'size' ? null : value)}
    />
    <ExportMenu csvUrls={csvUrls} />
  </>
)

/** What the changes are against, and how values are ranked by growth; null without either. */
const footOf = (answer: MetricAnswer, order: Order, uncompared: string | null): JSX.Element | null =>
  comparedText(answer) !== '' || uncompared || order === 'growth' ? (
    <>
      {comparedText(answer) !== '' && <span>Changes {comparedText(answer)}.</span>}
      {uncompared && <span>Not compared: {uncompared}.</span>}
      {order === 'growth' && (
        <span>
          Values that are new, or had less than {share(MIN_SHARE_BEFORE, 0)} of the total before, follow.
        </span>
      )}
    </>
  ) : null

type BreakdownProps = {
  name: string
  split: string
  title?: string
  /** Filters, view and part. */
  query?: Query
  maxRows?: number
  class?: string
}

export function Breakdown({
  name,
  split,
  query = {},
  maxRows = 8,
  ...look
}: BreakdownProps): JSX.Element | null {
  const apps = useApps().data?.apps ?? []
  const { isInView, ref, isLoaded } = useInView()
  const { href } = useScope()
  const [param, change] = useCardParams(`${name}.${split}`)
  const order = ORDERS.find((one) => one === param('order')) ?? 'size'
  const { result, definition, csvUrls, isHidden } = useMetric(
    name,
    { ...query, split, limit: order === 'size' ? MAX_VALUES : MAX_RANKED, compare: 'always' },
    isInView,
  )
  isLoaded.current = result.data !== undefined && !result.isPrevious
  // Links to the metric filtered by this value.
  const hrefFor = (value: string | null): string | null =>
    value ? href(`/metrics/${name}`, { ...query, [split]: value }) : null
  if (isHidden || (definition && !definition.splits.includes(split))) return null
  const comparedIn = (data: MetricAnswer): MetricAnswer => withoutUnknownPrevious(asCount(data))
  const title = look.title ?? SPLIT_NOUNS[split] ?? split
  return (
    <Card
      title={title}
      class={look.class ?? ''}
      cardRef={ref}
      tools={
        <Tools title={title} order={order} csvUrls={csvUrls} onOrder={(value) => change('order', value)} />
      }
      foot={result.data && footOf(comparedIn(result.data), order, uncomparedText(result.data))}
    >
      <QueryView result={result} height={maxRows * 38}>
        {(data) => {
          const answer = comparedIn(data)
          const { rows, combined } = rankingOf(answer, apps, maxRows, order)
          const shown = combined ? [...rows, combined] : rows
          if (rows.length === 0) return <Empty icon="chart" title="No data in this range" />
          return (
            <ul class="breakdown">
              {shown.map((row) => (
                <Row key={row.key} row={row} answer={answer} href={hrefFor(row.value)} />
              ))}
            </ul>
          )
        }}
      </QueryView>
    </Card>
  )
}
