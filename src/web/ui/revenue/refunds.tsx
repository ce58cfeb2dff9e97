/** The refunds view: the refunds of the range, their reasons and products, and the refund rate. */
import '../loading/chart_views.ts'
import type { ComponentChildren, JSX } from 'preact'
import { productName } from '../../../apps/product_name.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { ReasonNotes } from '../charts/reasons.ts'
import { ScopeBar } from '../frame/scope_bar.tsx'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { addressOf, type Query } from '../http.ts'
import { MetricCard, metricCardParams } from '../metrics/metric_card.tsx'
import { RequireFigures } from '../metrics/require_figures.tsx'
import { ViewHead } from '../metrics/view_head.tsx'
import { useOverview } from '../overview.ts'
import { type Paged, usePagedQuery } from '../paged_queries.ts'
import { Card } from '../parts/card.tsx'
import { Segments } from '../parts/popover.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { TableHead } from '../parts/table_head.tsx'
import type { QueryResult } from '../queries.ts'
import { daysOf, displayQuery, sourceQuery, useQueryParams, useScope } from '../scope.ts'
import { count, money, signedMoney } from '../words.ts'
import { REASONS, RefundTable } from './refund_table.tsx'
import { type Answer, areAllKnown, noneText, type Sums, totalsText } from './refund_words.ts'

const SORTS = [
  { value: 'date', title: 'Newest' },
  { value: 'amount', title: 'Amount' },
  { value: 'mrr', title: 'MRR' },
] as const

const PARAMS = { ...metricCardParams('refund_rate'), sort: SORTS.map(({ value }) => value) }

export function Refunds(): JSX.Element {
  return (
    <>
      <ScopeBar />
      <main class="page" id="content">
        <UnusedNotice params={PARAMS} />
        <ViewHead title="Refunds" metrics={['refund_rate']} />
        <RequireFigures>
          <RefundCards />
        </RequireFigures>
      </main>
    </>
  )
}

function RefundCards(): JSX.Element {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const [params, change] = useQueryParams()
  const sort = SORTS.find(({ value }) => value === params.sort)?.value ?? 'date'
  const query: Query = {
    ...sourceQuery(scope),
    ...displayQuery(scope),
    ...(overview && daysOf(scope, overview.today_on, null)),
    currency: scope.currency,
    sort: sort === 'date' ? null : sort,
  }
  const csvBy = (by: string): string => addressOf('/api/v1/refunds/totals.csv', { ...query, sort: null, by })
  const paged = usePagedQuery<Answer>('/api/v1/refunds', query, 'cursor', { wait: overview === undefined })
  return (
    <>
      <div class="grid">
        <Totals
          title="By reason"
          csv={csvBy('reason')}
          result={paged.first}
          linesOf={({ by_reason }) => by_reason.map((one) => ({ ...one, title: REASONS[one.value] }))}
        />
        <Totals
          title="By product"
          csv={csvBy('product')}
          result={paged.first}
          linesOf={({ by_product }) =>
            by_product.map((one) => ({ ...one, title: productName(one.value, undefined) }))
          }
        />
      </div>
      <Card
        title="Refunds in the range"
        tools={
          <>
            <Segments
              title="Order"
              value={sort}
              choices={SORTS}
              onPick={(value) => change({ sort: value === 'date' ? null : value })}
            />
            <ExportMenu csvUrls={{ csv: addressOf('/api/v1/refunds.csv', query) }} />
          </>
        }
      >
        <List paged={paged} />
      </Card>
      <MetricCard name="refund_rate" />
    </>
  )
}

function List({ paged }: { paged: Paged<Answer> }): JSX.Element {
  return (
    <>
      <QueryView result={paged.first} height={420}>
        {(answer) => {
          const refunds = paged.pages.flatMap((page) => page.refunds)
          if (refunds.length === 0)
            return (
              <NoRefunds answer={answer}>
                <p>Apple refunded no purchase in the range and scope above.</p>
              </NoRefunds>
            )
          return (
            <>
              <p class="small quiet">{totalsText(answer)}</p>
              <Reasons answer={answer} />
              <RefundTable refunds={refunds} currency={answer.currency} />
            </>
          )
        }}
      </QueryView>
      <ShowMore {...paged} />
    </>
  )
}

/** Why refunds of some days are not known. */
const Reasons = ({ answer }: { answer: Answer }): JSX.Element | null =>
  areAllKnown(answer) ? null : (
    <div class="stack-s small quiet">
      <ReasonNotes series={[answer]} from_on={answer.from} until_on={answer.to} />
    </div>
  )

type NoneProps = { answer: Answer; children?: ComponentChildren }
/** Says that there are no refunds, then `children`; or that none is known, and why. */
function NoRefunds({ answer, children }: NoneProps): JSX.Element {
  const { isNone, title } = noneText(answer)
  return (
    <Empty icon={isNone ? 'check' : 'question'} title={title}>
      {isNone ? children : <Reasons answer={answer} />}
    </Empty>
  )
}

type Line = Sums & { value: string; title: string }
type TotalsProps = {
  title: string
  csv: string
  result: QueryResult<Answer>
  linesOf: (answer: Answer) => Line[]
}

const Totals = ({ title, csv, result, linesOf }: TotalsProps): JSX.Element => (
  <Card title={title} class="half" tools={<ExportMenu csvUrls={{ csv }} />}>
    <QueryView result={result} height={220}>
      {(answer) =>
        linesOf(answer).length === 0 ? (
          <NoRefunds answer={answer} />
        ) : (
          <Scroll label={title}>
            <table class="table row-cards">
              <TableHead
                headings={[
                  { title: title.replace('By ', '').replace(/^\w/, (letter) => letter.toUpperCase()) },
                  { title: 'Refunds', isNumber: true },
                  ...((answer.totals?.reversed ?? 0) > 0 ? [{ title: 'Reversed', isNumber: true }] : []),
                  { title: 'Amount', isNumber: true },
                  { title: 'MRR', isNumber: true },
                ]}
              />
              <tbody>
                {linesOf(answer).map((line) => (
                  <tr key={line.value}>
                    <th scope="row">{line.title}</th>
                    <td class="number" data-title="Refunds">
                      {count(line.count + line.reversed)}
                    </td>
                    {(answer.totals?.reversed ?? 0) > 0 && (
                      <td class="number" data-title="Reversed">
                        {count(line.reversed)}
                      </td>
                    )}
                    <td class="number" data-title="Amount">
                      {money(line.base_milli, answer.currency)}
                    </td>
                    <td class="number" data-title="MRR">
                      {signedMoney(line.mrr_milli, answer.currency)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {(answer.totals?.reversed ?? 0) > 0 && (
              <p class="small quiet">
                Apple took a reversed refund back: it counts negatively, also where the refund was in earlier
                days.
              </p>
            )}
            <Reasons answer={answer} />
          </Scroll>
        )
      }
    </QueryView>
  </Card>
)
