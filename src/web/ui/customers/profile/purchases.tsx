/** The purchases of a customer: subscriptions with timelines, and one-time purchases. */
import type { JSX } from 'preact'
import { productName } from '../../../../apps/product_name.ts'
import { ExportMenu } from '../../charts/export_menu.tsx'
import { addressOf } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { TableHead } from '../../parts/table_head.tsx'
import { displayQuery, useScope } from '../../scope.ts'
import { date, money } from '../../words.ts'
import { type Axis, axisOf, barSections } from './bar.ts'
import { Life } from './life.tsx'
import { outlookOf } from './outlook.ts'
import type { Lineage, Profile, Transaction } from './profile_answer.ts'

type Props = { profile: Profile; now: number; bundle: string | undefined }

/** The CSV of all transactions of the customer. */
function TransactionsExport({ profile: { customer } }: Pick<Props, 'profile'>): JSX.Element {
  const { scope } = useScope()
  const csv = addressOf(`/api/v1/customers/${customer.id}/transactions.csv`, displayQuery(scope))
  return <ExportMenu csvUrls={{ csv }} />
}

export function Purchases({ profile, now, bundle }: Props): JSX.Element {
  const { lineages, transactions } = profile
  const subscriptions = lineages.filter(
    ({ timeline, subscription }) => timeline.length > 0 || subscription !== null,
  )
  const oneTimePurchases = transactions.filter(
    (one) => !subscriptions.some((lineage) => belongsTo(lineage, one)),
  )
  const instants = subscriptions.flatMap(({ timeline }) => timeline.flatMap(({ from, to }) => [from, to]))
  const axis = instants.length === 0 ? null : axisOf(instants, now)
  return (
    <>
      {subscriptions.length > 0 && (
        <Card
          title={subscriptions.length === 1 ? 'Subscription' : `${subscriptions.length} subscriptions`}
          tools={<TransactionsExport profile={profile} />}
        >
          <ul class="lives">
            {subscriptions
              .toSorted((one, other) => endOf(other) - endOf(one))
              .map((lineage) => (
                <LineageCard
                  key={lineage.id}
                  lineage={lineage}
                  transactions={transactions.filter((one) => belongsTo(lineage, one))}
                  axis={axis}
                  now={now}
                  bundle={bundle}
                />
              ))}
          </ul>
        </Card>
      )}
      {oneTimePurchases.length > 0 && (
        <Card title="One-time purchases" tools={<TransactionsExport profile={profile} />}>
          <OneTimePurchases transactions={oneTimePurchases} bundle={bundle} />
        </Card>
      )}
    </>
  )
}

const belongsTo = (lineage: Lineage, one: Transaction): boolean =>
  lineage.original_transaction_id === one.original_transaction_id

const endOf = ({ subscription, timeline }: Lineage): number =>
  subscription?.expires_at ?? timeline.at(-1)?.to ?? 0

type LineageProps = {
  lineage: Lineage
  transactions: Transaction[]
  axis: Axis | null
  now: number
  bundle: string | undefined
}

function LineageCard({ lineage, transactions, axis, now, bundle }: LineageProps): JSX.Element {
  const { subscription, timeline, original_transaction_id } = lineage
  const outlook = subscription && outlookOf(subscription, bundle)
  const product = subscription?.product_id ?? timeline.at(-1)?.product_id ?? ''
  const isFamily = subscription?.ownership === 'FAMILY_SHARED'
  return (
    <li class="stack-s">
      <div class="row">
        <h3 class="cut" title={product}>
          {productName(product, bundle)}
        </h3>
        {outlook && <span class={`badge ${outlook.tone}`}>{outlook.title}</span>}
        {isFamily && <span class="badge">Family Sharing</span>}
      </div>
      <p class="small">
        {outlook?.next}{' '}
        <span class="quiet">
          Since {date(subscription?.started_at ?? timeline[0]?.from)}, original transaction{' '}
          <code>{original_transaction_id}</code>.
        </span>
      </p>
      {timeline.length > 0 && axis && (
        <Life
          sections={barSections(timeline, transactions)}
          refunds={transactions.filter(({ refunded }) => refunded !== null)}
          axis={axis}
          now={now}
          bundle={bundle}
        />
      )}
    </li>
  )
}

const OneTimePurchases = ({
  transactions,
  bundle,
}: {
  transactions: Transaction[]
  bundle: string | undefined
}): JSX.Element => (
  <Scroll label="One-time purchases">
    <table class="table">
      <TableHead
        headings={[
          { title: 'Product' },
          { title: 'Purchased' },
          { title: 'Transaction' },
          { title: 'Price', isNumber: true },
        ]}
      />
      <tbody>
        {transactions.map((one) => (
          <tr key={one.transaction_id}>
            <td title={one.product_id}>
              {productName(one.product_id, bundle)}
              {(one.quantity ?? 1) > 1 && ` × ${one.quantity}`}{' '}
              {one.refunded && <span class="badge bad">Refunded</span>}
            </td>
            <td>{date(one.purchased_at)}</td>
            <td class="mono tiny">{one.transaction_id}</td>
            <td class="number">{money(one.price_milli, one.currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)
