/** The list of customers: table rows on desktop, cards on phones. Each entry is a link. */
import type { JSX } from 'preact'
import { type App, appName } from '../apps.ts'
import { countryName } from '../countries/names.ts'
import { useLateRows } from '../loading/late_rows.ts'
import { Icon } from '../parts/icons.tsx'
import { useQueryParams, useScope } from '../scope.ts'
import { ago } from '../words.ts'
import { type ChosenColumns, type Column, minWidthOf } from './columns.tsx'
import type { Customer } from './customer.ts'
import { Person } from './person.tsx'
import type { Sort } from './search.tsx'

type Props = {
  customers: readonly Customer[]
  chosen: ChosenColumns
  apps: readonly App[]
  now: number
  /** The order of the list; null if the viewer cannot change it. */
  sort: Sort | null
}

/** The height of most rows, in pixels. */
const ROW_HEIGHT = 61

export function CustomerList({ customers, ...rest }: Props): JSX.Element {
  const { chosen, sort } = rest
  const { columns } = chosen
  const { shown, waiting, ref } = useLateRows(customers)
  const template = ['minmax(0, 2.3fr)', ...columns.map(({ width }) => width)].join(' ')
  return (
    <div class="people" style={`--person-columns: ${template}; --person-width: ${minWidthOf(columns)}px`}>
      <div class="person head">
        <span>Customer</span>
        {columns.map((column) => (
          <Heading key={column.name} column={column} current={sort} />
        ))}
      </div>
      <ul>
        {shown.map((customer) => (
          <li key={customer.id}>
            <CustomerRow customer={customer} {...rest} />
          </li>
        ))}
        {waiting > 0 && <li ref={ref} aria-hidden="true" style={{ height: `${waiting * ROW_HEIGHT}px` }} />}
      </ul>
    </div>
  )
}

/** A heading. Where the list can be sorted by the column, a click does so, the greatest first. */
function Heading({ column, current }: { column: Column; current: Sort | null }): JSX.Element {
  const [, change] = useQueryParams()
  const { title, sort } = column
  const alignment = /number/.test(column.class) ? 'number' : undefined
  if (sort === undefined || current === null) return <span class={alignment}>{title}</span>
  return (
    <span class={alignment}>
      <button
        type="button"
        class="sorts"
        aria-pressed={sort === current}
        title={`Sort by ${title}`}
        onClick={() => change({ sort: sort === 'ltv' ? null : sort, within: null })}
      >
        {title}
        {sort === current && <Icon name="down" />}
      </button>
    </span>
  )
}

type CustomerRowProps = Omit<Props, 'customers'> & { customer: Customer }

function CustomerRow({ customer, chosen, apps, now, sort }: CustomerRowProps): JSX.Element {
  const { href } = useScope()
  const details = [
    customer.display_name !== null && customer.app_user_ids[0],
    apps.length > 1 && appName(apps, customer.app_id),
    customer.country && countryName(customer.country),
    sort === 'last_seen' ? `seen ${ago(customer.last_seen_at, now)}` : null,
  ]
  return (
    <a class="person" href={href(`/customers/${customer.id}`)}>
      <span class="who">
        <Person customer={customer} />
        <span class="under cut">{details.filter(Boolean).join(' · ')}</span>
      </span>
      {chosen.columns.map(({ name, class: className, cell }) => (
        <span key={name} class={className}>
          {cell(customer, { apps, now })}
        </span>
      ))}
      {chosen.onlyOnPhones.map(({ name, class: className, cell }) => (
        <span key={name} class={`${className} only-phone`}>
          {cell(customer, { apps, now })}
        </span>
      ))}
    </a>
  )
}
