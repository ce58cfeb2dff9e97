/** The refunds view: the refunds of the range, their reasons and products, and the refund rate. */
import '../loading/chart_views.ts'
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { RefundsAnswer } from '../../../api/metrics/refund_answers.ts'
import { productName } from '../../../apps/product_name.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
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
import { count, money, plural, signedMoney } from '../words.ts'
import { REASONS, RefundTable } from './refund_table.tsx'

type Answer = InferOutput<typeof RefundsAnswer>

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
        {({ totals, currency }) => {
          const refunds = paged.pages.flatMap((page) => page.refunds)
          if (refunds.length === 0 && totals === null) return <UnknownDays />
          if (refunds.length === 0)
            return (
              <Empty icon="check" title="No refunds in these days">
                <p>Apple refunded no purchase in the range and scope above.</p>
              </Empty>
            )
          return (
            <>
              <p class="small quiet">{totalsText(totals, currency)}</p>
              <RefundTable refunds={refunds} currency={currency} />
            </>
          )
        }}
      </QueryView>
      <ShowMore {...paged} />
    </>
  )
}

function totalsText(totals: Answer['totals'], currency: string | null): string {
  if (totals === null) return 'Not all refunds of these days are known, so they have no sum.'
  const { base_milli, proceeds_milli, mrr_milli, unpriced } = totals
  const sums = `${money(base_milli, currency)} gross, ${money(proceeds_milli, currency)} in proceeds, MRR ${signedMoney(mrr_milli, currency)}`
  const unknown = unpriced > 0 ? `. ${count(unpriced)} without a known amount` : ''
  return `${rowsText(totals)}, ${sums}${unknown}`
}

/** Counts the rows of the table: a reversal has a row of its own, and may be of a refund in earlier days. */
const rowsText = ({ count: net, reversed }: Sums): string =>
  [plural(net + reversed, 'refund'), reversed > 0 && plural(reversed, 'reversal')]
    .filter(Boolean)
    .join(' and ')

const UnknownDays = (): JSX.Element => (
  <Empty icon="question" title="The refunds of these days are not known">
    <p>Apple’s notifications arrive since a later day.</p>
  </Empty>
)

type Sums = NonNullable<Answer['totals']>
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
        answer.totals === null ? (
          <UnknownDays />
        ) : answer.totals.count === 0 && answer.refunds.length === 0 ? (
          <Empty icon="check" title="No refunds" />
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
          </Scroll>
        )
      }
    </QueryView>
  </Card>
)
