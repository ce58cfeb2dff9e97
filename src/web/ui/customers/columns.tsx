/** The columns of the customer list, and which of them the viewer has chosen. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { productName } from '../../../apps/product_name.ts'
import { type App, appName } from '../apps.ts'
import { Flag } from '../countries/flag.tsx'
import { countryName } from '../countries/names.ts'
import { AppMark } from '../marks/app_mark.tsx'
import { Amount } from '../parts/amount.tsx'
import { PickLabel, Popover } from '../parts/popover.tsx'
import { ago, date, plural } from '../words.ts'
import { type Customer, monthsPaid, monthsPaidUnit, nextDateText } from './customer.ts'
import { StatusBadge } from './person.tsx'
import type { Sort } from './search.tsx'

type CellContext = { apps: readonly App[]; now: number }

/** `class` names the cell’s place on a phone. `sort`: the order of the list that a click on the heading chooses. */
export type Column = {
  name: string
  title: string
  class: string
  width: string
  sort?: Sort
  cell: (customer: Customer, context: CellContext) => JSX.Element
}

const MoneyCell = ({ milli, currency }: { milli: number; currency: string | null }): JSX.Element =>
  milli === 0 ? (
    <span class="quiet none">–</span>
  ) : (
    <span class="amount">
      <Amount milli={milli} currency={currency} />
    </span>
  )

const MoreValue = ({ payments, proceeds_milli, currency }: Customer): JSX.Element => (
  <span class="under">
    {proceeds_milli === null ? (
      plural(payments, 'payment')
    ) : (
      <>
        <Amount milli={proceeds_milli} currency={currency} /> proceeds
      </>
    )}
  </span>
)

export const COLUMNS: readonly Column[] = [
  {
    name: 'status',
    title: 'Status',
    class: 'standing',
    width: 'minmax(150px, 1.2fr)',
    cell: (customer) => (
      <>
        <StatusBadge status={customer.status} />
        <span class="under">{nextDateText(customer)}</span>
      </>
    ),
  },
  {
    name: 'product',
    title: 'Product',
    class: 'product cut',
    width: 'minmax(0px, 1.6fr)',
    cell: ({ product_id, app_id }, { apps }) => (
      <span title={product_id ?? undefined}>
        {product_id && productName(product_id, apps.find(({ id }) => id === app_id)?.bundle_id)}
      </span>
    ),
  },
  {
    name: 'ltv',
    title: 'Lifetime value',
    class: 'worth number',
    width: '140px',
    sort: 'ltv',
    cell: (customer) => (
      <>
        <span class="spoken">Lifetime value </span>
        <strong>
          <Amount milli={customer.ltv_milli} currency={customer.currency} />
        </strong>
        <MoreValue {...customer} />
      </>
    ),
  },
  {
    name: 'mrr',
    title: 'MRR',
    class: 'mrr number',
    width: '104px',
    sort: 'mrr',
    cell: ({ mrr_milli, risk_milli, currency }) => (
      <>
        <span class="spoken">MRR </span>
        <MoneyCell milli={mrr_milli} currency={currency} />
        {risk_milli > 0 && (
          <span class="under warn">
            <Amount milli={risk_milli} currency={currency} /> at risk
          </span>
        )}
      </>
    ),
  },
  {
    name: 'months',
    title: 'Months paid',
    class: 'months number',
    width: '96px',
    cell: (customer) => (
      <>
        {monthsPaid(customer)}
        <span class="unit"> {monthsPaidUnit(customer)} paid</span>
        <span class="under many">{plural(customer.payments, 'payment')}</span>
      </>
    ),
  },
  {
    name: 'last_seen',
    title: 'Last seen',
    class: 'extra',
    width: '112px',
    sort: 'last_seen',
    cell: ({ last_seen_at }, { now }) => <span title={date(last_seen_at)}>{ago(last_seen_at, now)}</span>,
  },
  {
    name: 'first_paid',
    title: 'First payment',
    class: 'extra',
    width: '112px',
    cell: ({ first_paid_at }) => <span>{first_paid_at === null ? '–' : date(first_paid_at)}</span>,
  },
  {
    name: 'risk',
    title: 'MRR at risk',
    class: 'extra number',
    width: '104px',
    sort: 'risk',
    cell: ({ risk_milli, currency }) => <MoneyCell milli={risk_milli} currency={currency} />,
  },
  {
    name: 'refunded',
    title: 'Refunded',
    class: 'extra number',
    width: '104px',
    cell: ({ refunded_milli, currency }) => <MoneyCell milli={refunded_milli} currency={currency} />,
  },
  {
    name: 'country',
    title: 'Country',
    class: 'extra cut',
    width: '120px',
    cell: ({ country }) => (
      <span>
        <Flag code={country} /> {country === null ? '–' : countryName(country)}
      </span>
    ),
  },
  {
    name: 'email',
    title: 'E-mail',
    class: 'extra cut',
    width: 'minmax(140px, 1.4fr)',
    cell: ({ email }) => <span title={email ?? undefined}>{email ?? '–'}</span>,
  },
  {
    name: 'app',
    title: 'App',
    class: 'extra cut',
    width: 'minmax(100px, 1fr)',
    cell: ({ app_id }, { apps }) => (
      <span>
        <AppMark id={app_id} /> {appName(apps, app_id)}
      </span>
    ),
  },
]

const DEFAULT_NAMES = ['status', 'product', 'ltv', 'mrr', 'months']
const STORAGE_KEY = 'customer_columns'

/** The stored choice; the default if there is none or it has no known column. */
function storedNames(): string[] {
  const names = localStorage.getItem(STORAGE_KEY)?.split(',') ?? DEFAULT_NAMES
  return names.some((name) => COLUMNS.some((column) => column.name === name)) ? names : DEFAULT_NAMES
}

/** The width of the customer's column and of a gap, in pixels. */
const NAME_WIDTH = 180
const GAP = 20

/** The width in pixels below which the list scrolls sideways; 0 for few columns, which shrink instead. */
export const minWidthOf = (columns: readonly Column[]): number =>
  columns.length <= DEFAULT_NAMES.length
    ? 0
    : columns.reduce(
        (sum, { width }) => sum + GAP + Number.parseInt(/\d+px/.exec(width)?.[0] ?? '0', 10),
        NAME_WIDTH,
      )

export type ChosenColumns = {
  columns: readonly Column[]
  /** The columns of a phone's cards that are not chosen; hidden on other screens. */
  onlyOnPhones: readonly Column[]
  toggle: (name: string) => void
}

/** The chosen columns in their fixed order, and a function that shows or hides one. One column always remains. */
export function useColumns(): ChosenColumns {
  const [names, setNames] = useState(storedNames)
  const toggle = (name: string): void => {
    const others = names.filter((one) => one !== name)
    const next = others.length < names.length ? others : [...names, name]
    if (next.length === 0) return
    localStorage.setItem(STORAGE_KEY, next.join(','))
    setNames(next)
  }
  const onlyOnPhones = COLUMNS.filter(({ name }) => DEFAULT_NAMES.includes(name) && !names.includes(name))
  return { columns: COLUMNS.filter(({ name }) => names.includes(name)), onlyOnPhones, toggle }
}

/** The menu in which the viewer chooses columns. Phones always show the default ones, as cards. */
export const ColumnMenu = ({ columns, toggle }: ChosenColumns): JSX.Element => (
  <Popover buttonClass="pick columns-menu" class="menu" label={<PickLabel title="Choose">Columns</PickLabel>}>
    {() => (
      <fieldset class="plain-set">
        <legend class="group">Columns</legend>
        {COLUMNS.map(({ name, title }) => {
          const isChosen = columns.some((one) => one.name === name)
          return (
            <label key={name}>
              <input
                type="checkbox"
                checked={isChosen}
                disabled={isChosen && columns.length === 1}
                onClick={() => toggle(name)}
              />
              {title}
            </label>
          )
        })}
      </fieldset>
    )}
  </Popover>
)
