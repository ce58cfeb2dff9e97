/** Customers at risk: canceling or with a failed payment, by MRR or by end date. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { CustomersAnswer } from '../../../api/customers/answers.ts'
import { productName } from '../../../apps/product_name.ts'
import { appName, useApps } from '../apps.ts'
import { useCardParams } from '../charts/card_params.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { countryName } from '../countries/names.ts'
import { WEEK } from '../customers/customer.ts'
import { Person, StatusBadge } from '../customers/person.tsx'
import { addressOf } from '../http.ts'
import { useInView } from '../loading/use_in_view.ts'
import { useMetric } from '../metrics/metric_query.ts'
import { useNow } from '../now.ts'
import { Card } from '../parts/card.tsx'
import { Segments } from '../parts/popover.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { useQuery } from '../queries.ts'
import { displayQuery, sourceQuery, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { ago, money } from '../words.ts'
import { NO_SUBSCRIPTIONS, subscriptionsNow } from './empty_texts.ts'
import { riskNote } from './risk_note.ts'

type Answer = InferOutput<typeof CustomersAnswer>
type Customer = Answer['customers'][number]

const STATES = [
  { value: '', title: 'All' },
  { value: 'will_cancel', title: 'Canceling' },
  { value: 'grace', title: 'Grace' },
  { value: 'billing_retry', title: 'Retry' },
] as const
const MAX_LISTED = 10
const ORDERS = [
  { value: '', title: 'Highest MRR' },
  { value: 'week', title: 'This week' },
] as const

/** The URL parameters of the card. */
export const AT_RISK_PARAMS = {
  'risk.status': STATES.map(({ value }) => value),
  'risk.by': ORDERS.map(({ value }) => value),
}

function Row({ customer, now }: { customer: Customer; now: number }): JSX.Element {
  const apps = useApps().data?.apps
  const { href } = useScope()
  const note = riskNote(customer)
  const { id, status, product_id, risk_milli, currency, last_paid_at, ends_at } = customer
  return (
    <tr>
      <th scope="row">
        <a href={href(`/customers/${id}`)}>
          <Person customer={customer} />
        </a>
        <span class="quiet tiny cut">
          {product_id ? productName(product_id, undefined) : appName(apps, customer.app_id)} ·{' '}
          {countryName(customer.country)}
        </span>
      </th>
      <td>
        <StatusBadge status={status} />
        <span class="quiet tiny">
          {ends_at !== null
            ? `ends ${ago(ends_at, now)}`
            : last_paid_at !== null && `paid ${ago(last_paid_at, now)}`}
        </span>
      </td>
      <td class="number">
        {note === null ? money(risk_milli, currency) : <span class="quiet">{note}</span>}
      </td>
    </tr>
  )
}

const AtRiskList = ({ customers }: { customers: Customer[] }): JSX.Element => {
  const now = useNow()
  return (
    <Scroll label="Customers at risk">
      <table class="table at-risk">
        <TableHead
          headings={[{ title: 'Customer' }, { title: 'Status' }, { title: 'MRR at risk', isNumber: true }]}
        />
        <tbody>
          {customers.map((customer) => (
            <Row key={customer.id} customer={customer} now={now} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function NoneAtRisk({ isThisWeek }: { isThisWeek: boolean }): JSX.Element {
  const status = useMetric('status', { compare: null }).result.data
  if (subscriptionsNow(status) === 0) return <Empty icon="customers" title={NO_SUBSCRIPTIONS} />
  return (
    <Empty icon="check" title={isThisWeek ? 'No subscriptions end this week' : 'No customers at risk'}>
      <p>
        {isThisWeek
          ? 'No canceling subscription ends in the next seven days.'
          : 'All subscriptions are set to renew.'}
      </p>
    </Empty>
  )
}

type ToolsProps = {
  status: string | null
  isThisWeek: boolean
  change: (param: string, value: string | null) => void
  csv: string
}

const Tools = ({ status, isThisWeek, change, csv }: ToolsProps): JSX.Element => (
  <>
    {!isThisWeek && (
      <Segments
        title="Status"
        value={status ?? ''}
        choices={STATES}
        onPick={(value) => change('status', value || null)}
      />
    )}
    <Segments
      title="Order"
      value={isThisWeek ? 'week' : ''}
      choices={ORDERS}
      onPick={(value) => change('by', value || null)}
    />
    <ExportMenu csvUrls={{ csv }} />
  </>
)

/** The card of customers at risk. Guests do not see it, because they see no customers. */
export function AtRisk({ class: className = '' }: { class?: string }): JSX.Element | null {
  const { state } = useSession()
  const { isInView, ref } = useInView()
  const { scope, href } = useScope()
  const [param, change] = useCardParams('risk')
  const status = param('status')
  const isThisWeek = param('by') === 'week'
  const { app, environment } = sourceQuery(scope)
  // Subscriptions in billing retry have no end date.
  const order = isThisWeek ? { sort: 'ends', within_days: WEEK } : { sort: 'risk', status }
  const query = { ...order, app, environment, ...displayQuery(scope) }
  const result = useQuery<Answer>(
    '/api/v1/customers',
    { ...query, limit: MAX_LISTED },
    { wait: state !== 'owner' || !isInView },
  )
  if (state !== 'owner') return null
  return (
    <Card
      title={isThisWeek ? 'Ends this week, soonest first' : 'At risk, highest MRR first'}
      cardRef={ref}
      class={className}
      tools={
        <Tools
          status={status}
          isThisWeek={isThisWeek}
          change={change}
          csv={addressOf('/api/v1/customers.csv', query)}
        />
      }
      foot={
        isThisWeek ? (
          <a href={href('/customers', { sort: 'ends', within: WEEK })}>
            All customers whose subscription ends this week
          </a>
        ) : (
          <a href={href('/customers', { sort: 'risk', status })}>All customers by MRR at risk</a>
        )
      }
    >
      <QueryView result={result} height={420}>
        {({ customers }) => {
          const atRisk = isThisWeek ? customers : customers.filter(({ risk_milli }) => risk_milli > 0)
          return atRisk.length === 0 ? (
            <NoneAtRisk isThisWeek={isThisWeek} />
          ) : (
            <AtRiskList customers={atRisk} />
          )
        }}
      </QueryView>
    </Card>
  )
}
