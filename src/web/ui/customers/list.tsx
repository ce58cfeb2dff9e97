/** The list of customers: table rows on desktop, cards on phones. Each entry is a link. */
import type { JSX } from 'preact'
import { productName } from '../../../apps/product_name.ts'
import { type App, appName } from '../apps.ts'
import { countryName } from '../countries.ts'
import { Amount } from '../parts/amount.tsx'
import { useScope } from '../scope.ts'
import { ago, plural } from '../words.ts'
import { type Customer, monthsPaid, monthsPaidUnit, nextDateText } from './customer.ts'
import { Person, StatusBadge } from './person.tsx'

type Props = { customers: readonly Customer[]; apps: readonly App[]; now: number; showsLastSeen: boolean }

export const CustomerList = ({ customers, ...rest }: Props): JSX.Element => (
  <div class="people">
    <div class="person head" aria-hidden="true">
      <span>Customer</span>
      <span>Status</span>
      <span>Product</span>
      <span class="number">Lifetime value</span>
      <span class="number">MRR</span>
      <span class="number">Months paid</span>
    </div>
    <ul>
      {customers.map((customer) => (
        <li key={customer.id}>
          <CustomerRow customer={customer} {...rest} />
        </li>
      ))}
    </ul>
  </div>
)

type CustomerRowProps = Omit<Props, 'customers'> & { customer: Customer }

function CustomerRow({ customer, apps, now, showsLastSeen }: CustomerRowProps): JSX.Element {
  const { href } = useScope()
  const { currency, mrr_milli, risk_milli, proceeds_milli } = customer
  const app = apps.find(({ id }) => id === customer.app_id)
  const details = [
    apps.length > 1 && appName(apps, customer.app_id),
    customer.country && countryName(customer.country),
    showsLastSeen ? `seen ${ago(customer.last_seen_at, now)}` : null,
  ]
  return (
    <a class="person" href={href(`/customers/${customer.id}`)}>
      <span class="who">
        <Person customer={customer} />
        <span class="under cut">{details.filter(Boolean).join(' · ')}</span>
      </span>
      <span class="standing">
        <StatusBadge status={customer.status} />
        <span class="under">{nextDateText(customer)}</span>
      </span>
      <span class="product cut" title={customer.product_id ?? undefined}>
        {customer.product_id && productName(customer.product_id, app?.bundle_id)}
      </span>
      <span class="worth number">
        <span class="spoken">Lifetime value </span>
        <strong>
          <Amount milli={customer.ltv_milli} currency={currency} />
        </strong>
        <span class="under">
          {proceeds_milli === null ? (
            plural(customer.payments, 'payment')
          ) : (
            <>
              <Amount milli={proceeds_milli} currency={currency} /> proceeds
            </>
          )}
        </span>
      </span>
      <span class="mrr number">
        <span class="spoken">MRR </span>
        {mrr_milli === 0 ? (
          <span class="quiet none">–</span>
        ) : (
          <span class="amount">
            <Amount milli={mrr_milli} currency={currency} />
          </span>
        )}
        {risk_milli > 0 && (
          <span class="under warn">
            <Amount milli={risk_milli} currency={currency} /> at risk
          </span>
        )}
      </span>
      <span class="months number">
        {monthsPaid(customer)}
        <span class="unit"> {monthsPaidUnit(customer)} paid</span>
        <span class="under many">{plural(customer.payments, 'payment')}</span>
      </span>
    </a>
  )
}
