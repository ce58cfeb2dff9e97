/** The bar above a view: apps, date range, amounts and options. The selection is in the URL. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { INTERVALS } from '../../../metrics/series/buckets.ts'
import { type App, useApps } from '../apps.ts'
import { AppMark } from '../marks/app_mark.tsx'
import { Icon } from '../parts/icons.tsx'
import { MenuSearch, Pick, PickLabel, Popover, Segments } from '../parts/popover.tsx'
import { isPacific, type Scope, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import type { Interval } from '../words.ts'
import { BillingCurrencyPick, DisplayCurrencyPick } from './currency_picks.tsx'
import { OrganizationScope } from './organization_scope.tsx'
import { ComparePick, RangePick } from './range_pick.tsx'
import { BASES } from './scope_choices.ts'

type ScopeChange = (changes: Partial<Scope>) => void
type PickerProps = { scope: Scope; change: ScopeChange }

function appsTitle(apps: readonly App[], chosen: readonly string[]): string {
  const names = apps.filter(({ id }) => chosen.includes(id)).map((app) => app.name ?? app.bundle_id)
  if (names.length === 0) return apps.length === 1 ? (apps[0]?.name ?? 'All apps') : 'All apps'
  return names.length === 1 ? (names[0] ?? '') : `${names.length} apps`
}

/** The number of apps from which the menu has a search field. */
const SEARCHED_FROM = 10

function AppPick({ scope, change }: PickerProps): JSX.Element | null {
  const all = useApps().data?.apps ?? []
  const apps = all.filter((app) => scope.organization === null || app.organization_id === scope.organization)
  const [text, setText] = useState('')
  const listed = apps.filter(({ name, bundle_id }) =>
    `${name ?? ''} ${bundle_id}`.toLowerCase().includes(text.trim().toLowerCase()),
  )
  const toggle = (id: string): void => {
    const others = scope.apps.filter((one) => one !== id)
    const next = others.length === scope.apps.length ? [...scope.apps, id] : others
    change({ apps: next.length === apps.length ? [] : next })
  }
  return (
    <Popover
      buttonClass="pick"
      class="menu"
      label={
        <PickLabel title="Apps" icon="app">
          {appsTitle(apps, scope.apps)}
        </PickLabel>
      }
    >
      {(close) => (
        <fieldset class="plain-set">
          <legend class="group">Apps</legend>
          <label>
            <input
              type="checkbox"
              checked={scope.apps.length === 0}
              onClick={() => {
                change({ apps: [] })
                close()
              }}
            />
            All apps
          </label>
          {apps.length > SEARCHED_FROM && <MenuSearch label="Search apps" text={text} onInput={setText} />}
          {listed.length === 0 && <p class="menu-note">No apps found</p>}
          {listed.map((app) => (
            <label key={app.id}>
              <input type="checkbox" checked={scope.apps.includes(app.id)} onClick={() => toggle(app.id)} />
              <AppMark id={app.id} />
              <span class="cut">{app.name ?? app.bundle_id}</span>
            </label>
          ))}
        </fieldset>
      )}
    </Popover>
  )
}

const INTERVAL_TITLES: Record<Interval, string> = {
  day: 'Daily',
  week: 'Weekly',
  month: 'Monthly',
  fiscal_month: 'Apple fiscal months',
}
/** The choice in which the interval follows from the range. */
const AUTO = 'auto'

const IntervalPick = ({ scope, change }: PickerProps): JSX.Element => (
  <Pick
    title="Interval"
    icon="chart"
    value={scope.interval ?? AUTO}
    choices={[
      { value: AUTO, title: 'Auto interval' },
      ...INTERVALS.map((value) => ({ value, title: INTERVAL_TITLES[value] })),
    ]}
    onPick={(value) => change({ interval: value === AUTO ? null : value })}
  />
)

const MoreOptions = ({ scope, change }: PickerProps): JSX.Element => (
  <>
    <label>
      <input
        type="checkbox"
        checked={isPacific(scope)}
        disabled={scope.zone === 'own' && isPacific(scope)}
        onClick={() => change({ zone: scope.zone === 'pacific' ? 'own' : 'pacific' })}
      />
      Use Apple’s report days (Pacific time)
    </label>
    <label>
      <input
        type="checkbox"
        checked={scope.environment === 'sandbox'}
        onClick={() => change({ environment: scope.environment === 'sandbox' ? 'production' : 'sandbox' })}
      />
      Sandbox instead of production data
    </label>
  </>
)

/** A menu on a wide screen. On a phone, the options are in the panel of the other controls. */
const MorePick = (props: PickerProps): JSX.Element => (
  <>
    <Popover buttonClass="pick bar-more" class="menu" label="More" title="More options">
      {() => <MoreOptions {...props} />}
    </Popover>
    <div class="bar-options choices">
      <MoreOptions {...props} />
    </div>
  </>
)

/** The controls that a view supports. */
export type ScopeParts = 'all' | 'place' | 'amounts' | 'money'

/** How many of the filters that a phone shows on request differ from the default. */
const activeFilters = ({ basis, compare, interval, display, currency, zone, environment }: Scope): number =>
  [
    basis !== 'gross',
    compare !== 'none',
    interval !== null,
    display !== null,
    currency !== null,
    zone !== 'own',
    environment !== 'production',
  ].filter(Boolean).length

/** On a phone, the less used controls appear at the push of a button. The search reads `data-parts`, to offer only what the view supports. */
export function ScopeBar({ parts = 'all' }: { parts?: ScopeParts }): JSX.Element | null {
  const { scope, change } = useScope()
  const { basis, state } = useSession()
  const apps = useApps().data?.apps
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const active = activeFilters(scope)
  // Before the first app is connected, there is nothing to choose from.
  if (state === 'owner' && apps?.length === 0) return null
  return (
    <search class="bar" aria-label="View options" data-parts={parts}>
      <OrganizationScope scope={scope} change={change} />
      <AppPick scope={scope} change={change} />
      {parts === 'all' && <RangePick scope={scope} change={change} />}
      <button
        type="button"
        class="pick bar-toggle"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="filter" /> <span class="bar-toggle-text">Filters</span>
        {active > 0 && <span class="badge">{active}</span>}
      </button>
      <div id={id} class={isOpen ? 'bar-rest is-open' : 'bar-rest'}>
        {(parts === 'all' || parts === 'money') && basis === null && (
          <Segments
            title="Amounts"
            value={scope.basis}
            choices={BASES}
            onPick={(value) => change({ basis: value })}
          />
        )}
        {parts === 'all' && <ComparePick scope={scope} change={change} />}
        {parts === 'all' && <IntervalPick scope={scope} change={change} />}
        {parts !== 'place' && <DisplayCurrencyPick scope={scope} change={change} />}
        {parts === 'all' && <BillingCurrencyPick scope={scope} change={change} />}
        <MorePick scope={scope} change={change} />
      </div>
      {scope.environment === 'sandbox' && <span class="badge warn">Sandbox</span>}
    </search>
  )
}
