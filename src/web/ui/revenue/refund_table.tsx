/** The table of refunds. Each row leads to the customer. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { RefundsAnswer } from '../../../api/metrics/refund_answers.ts'
import { productName } from '../../../apps/product_name.ts'
import { appName, useApps } from '../apps.ts'
import { countryName } from '../countries/names.ts'
import { customerName, nameLabel, ReportedName } from '../customers/person.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { useScope } from '../scope.ts'
import { date, instant, money, share, signedMoney, UNKNOWN } from '../words.ts'

type Refund = InferOutput<typeof RefundsAnswer>['refunds'][number]

export const REASONS: Record<Refund['reason'], string> = {
  unintended_purchase: 'Unintended purchase',
  fulfillment_issue: 'Not delivered',
  unsatisfied_with_purchase: 'Unsatisfied',
  legal: 'Legal',
  app_issue: 'Issue with the app',
  other: 'Other',
  not_given: 'Not given',
}

const NO_MRR_REASONS: Record<NonNullable<Refund['no_mrr_reason']>, string> = {
  had_ended: 'had ended',
  earlier_period: 'earlier period',
}

const TYPES: Record<string, string> = { REFUND_FULL: 'Full', REFUND_PRORATED: 'Prorated' }

/** The kind of refund and its part of the price, as far as Apple sent them. */
const extentOf = ({ kind, revocation_type, percentage }: Refund): string =>
  [
    kind === 'reversal' && 'Reversed',
    revocation_type && (TYPES[revocation_type] ?? revocation_type),
    percentage !== null && share(percentage / 100, 0),
  ]
    .filter(Boolean)
    .join(' · ')

type Props = { refunds: readonly Refund[]; currency: string | null }

export function RefundTable({ refunds, currency }: Props): JSX.Element {
  return (
    <Scroll label="Refunds">
      <table class="table refunds row-cards">
        <TableHead
          headings={[
            { title: 'Date' },
            { title: 'Customer' },
            { title: 'Product' },
            { title: 'Reason' },
            { title: 'Amount', isNumber: true },
            { title: 'Proceeds', isNumber: true },
            { title: 'MRR', isNumber: true },
          ]}
        />
        <tbody>
          {refunds.map((refund) => (
            <Row key={`${refund.transaction_id} ${refund.at}`} refund={refund} currency={currency} />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Row({ refund, currency }: { refund: Refund; currency: string | null }): JSX.Element {
  const { href } = useScope()
  const apps = useApps().data?.apps
  const { customer_id: id, app_id, product_id, country, amount_milli: amount, billed_in } = refund
  const { base_milli, mrr_milli } = refund
  const isConverted = amount !== null && billed_in !== currency
  return (
    <tr>
      <td class="nowrap" data-title="Date" title={instant(refund.at)}>
        {date(refund.at)}
      </td>
      <th scope="row">
        {id === null ? (
          UNKNOWN
        ) : (
          <a href={href(`/customers/${id}`)}>
            <ReportedName label={nameLabel(refund.display_name_verified)}>
              {customerName({ ...refund, id })}
            </ReportedName>
          </a>
        )}
        <span class="quiet tiny">{countryName(country)}</span>
      </th>
      <td data-title="Product">
        <span title={product_id}>{productName(product_id, undefined)}</span>
        <span class="quiet tiny">{appName(apps, app_id)}</span>
      </td>
      <td data-title="Reason">
        {REASONS[refund.reason]}
        <span class="quiet tiny">{extentOf(refund)}</span>
      </td>
      <td class="number" data-title="Amount">
        {money(base_milli, currency)}
        {isConverted && <span class="quiet tiny">{money(amount, billed_in)}</span>}
      </td>
      <td class="number" data-title="Proceeds">
        {money(refund.proceeds_milli, currency)}
      </td>
      <td class="number" data-title="MRR">
        {mrr_milli === null ? UNKNOWN : signedMoney(mrr_milli, currency)}
        {refund.no_mrr_reason && <span class="quiet tiny">{NO_MRR_REASONS[refund.no_mrr_reason]}</span>}
      </td>
    </tr>
  )
}
