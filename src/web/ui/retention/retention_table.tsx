/** The retention triangle. A deeper color is a higher percentage; hatched cells are incomplete. */
import type { JSX } from 'preact'
import { useCardParams } from '../charts/card_params.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { savePicture } from '../charts/picture.ts'
import { Anchor, CohortAbout, useCohortTitle } from '../cohorts/cohort_card.tsx'
import { type Cohorts, useCohorts } from '../cohorts/cohort_query.ts'
import { ChoiceMenu } from '../metrics/tools.tsx'
import { Card } from '../parts/card.tsx'
import { Segments } from '../parts/popover.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { ANY } from '../scope.ts'
import { cohortTitle, count, period as periodName, plural, share } from '../words.ts'
import { type Cell, MAX_COLUMNS, periodsOf, type Triangle, type TriangleRow, triangleOf } from './triangle.ts'
import { headsOf, triangleBody } from './triangle_picture.ts'

const GRAINS = [
  { value: 'week', title: 'Weeks' },
  { value: 'month', title: 'Months' },
  { value: 'year', title: 'Years' },
] as const
type Grain = (typeof GRAINS)[number]['value']

/** The URL parameters of the card. */
export const RETENTION_PARAMS = { 'retention.by': GRAINS.map(({ value }) => value), 'retention.period': ANY }

function CellView({ cell, row }: { cell: Cell | undefined; row: string }): JSX.Element {
  if (!cell || cell.share === null) return <td class="none" />
  const description = `${row}, renewal ${cell.k}: ${cell.held} of ${plural(cell.due, 'subscription')} still paid`
  return (
    <td
      class={cell.complete ? 'heat' : 'heat unsure'}
      style={{ '--share': String(cell.share) }}
      title={cell.complete ? description : `${description}; the other renewals are not due yet`}
    >
      {share(cell.share, 0)}
      {!cell.complete && <span class="spoken"> so far</span>}
    </td>
  )
}

const CAPTION =
  'Share of each row’s subscriptions that is still paid at each renewal. Hatched: not every renewal was due yet.'

type RowProps = { row: TriangleRow; title: string; columns: number; isAll?: boolean }

const Row = ({ row, title, columns, isAll = false }: RowProps): JSX.Element => (
  <tr class={isAll ? 'all' : undefined}>
    <th scope="row">
      {title}
      <span class="size">{count(row.size)}</span>
    </th>
    {Array.from({ length: columns }, (_, k) => (
      <CellView key={k} cell={row.cells[k]} row={title} />
    ))}
  </tr>
)

function Table({ triangle, grain, title }: { triangle: Triangle; grain: Grain; title: string }): JSX.Element {
  const columns = Math.min(MAX_COLUMNS, triangle.columns)
  const heads = headsOf(columns).map((title) => ({ title, isNumber: true }))
  return (
    <Scroll class="triangle-wrap" label={title}>
      <table class="triangle">
        <TableHead headings={[{ title: 'First payment' }, ...heads]} />
        <tbody>
          <Row row={triangle.all} title="All" columns={columns} isAll />
          {triangle.rows.map((row) => (
            <Row key={row.cohort} row={row} title={cohortTitle(row.cohort, grain)} columns={columns} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** The selected period, or by default the period with the most subscriptions. */
function periodIn({ cohorts }: Cohorts<'retention'>, selected: string | null): string | undefined {
  const periods = periodsOf(cohorts)
  return periods.find((one) => one.period === selected)?.period ?? periods[0]?.period
}

const periodTitle = (period: string): string => `Retention of ${periodName(period)} subscriptions`

type RetentionContentProps = { answer: Cohorts<'retention'>; selected: string | null; grain: Grain }

function RetentionContent({ answer, selected, grain }: RetentionContentProps): JSX.Element {
  const period = periodIn(answer, selected)
  if (!period)
    return (
      <Empty icon="retention" title="No cohorts yet">
        <p>Cohorts start with the first payment of a subscription that is known from its start.</p>
      </Empty>
    )
  const triangle = triangleOf(answer.cohorts, period)
  const first = triangle.all.cells[1]
  return (
    <>
      {first && first.share !== null && (
        <p class="figure-row">
          <span class="figure">{share(first.share)}</span>
          <span class="tiny quiet">
            paid the first renewal: {count(first.held)} of {count(first.due)}
          </span>
        </p>
      )}
      <Table triangle={triangle} grain={grain} title={periodTitle(period)} />
    </>
  )
}

export function RetentionTable(): JSX.Element {
  const [param, change] = useCardParams('retention')
  const grain = GRAINS.find(({ value }) => value === param('by'))?.value ?? 'month'
  const { result, csv, ref } = useCohorts('retention', { by: grain })
  const title = useCohortTitle('retention')
  const { data } = result
  const periods = periodsOf(data?.cohorts ?? [])
  const period = data && periodIn(data, param('period'))
  const picture =
    data && period
      ? () =>
          savePicture(
            { title: periodTitle(period), subtitle: CAPTION, name: 'retention' },
            triangleBody(triangleOf(data.cohorts, period), grain),
          )
      : null
  const [mostCommon, ...others] = periods.map(({ period, size }) => ({
    value: period,
    title: `${periodName(period)} (${count(size)})`,
  }))
  return (
    <Card
      title={<Anchor id="retention" title={title} />}
      plainTitle={title}
      cardRef={ref}
      about={data && <CohortAbout answer={data} />}
      tools={
        <>
          {mostCommon && (
            <ChoiceMenu
              label="Subscription period"
              none={mostCommon.title}
              choices={others}
              value={param('period')}
              onPick={(period) => change('period', period)}
            />
          )}
          <Segments
            title="Cohorts by"
            value={grain}
            choices={GRAINS}
            onPick={(by) => change('by', by === 'month' ? null : by)}
          />
          <ExportMenu csvUrls={{ csv }} savePng={picture} />
        </>
      }
      foot={CAPTION}
    >
      <QueryView result={result} height={420}>
        {(answer) => <RetentionContent answer={answer} selected={param('period')} grain={grain} />}
      </QueryView>
    </Card>
  )
}
