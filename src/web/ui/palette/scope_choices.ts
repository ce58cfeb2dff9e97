/** What can be chosen for the scope: apps everywhere, and the options that the view in sight has. */
import { APPLE_CURRENCIES } from '../../../rates/currencies.ts'
import type { App } from '../apps.ts'
import type { ScopeParts } from '../frame/scope_bar.tsx'
import { BASES, COMPARISONS, currencyTitle } from '../frame/scope_choices.ts'
import { RANGE_GROUPS, RANGE_TITLES } from '../ranges.ts'
import type { Scope } from '../scope.ts'
import type { Session } from '../session.ts'
import type { Choice, Opening } from './choice.ts'

/** The options of the view in sight; null if it has none. */
export const shownParts = (): ScopeParts | null =>
  (document.querySelector<HTMLElement>('search.bar')?.dataset.parts ?? null) as ScopeParts | null

export type ScopeContext = {
  apps: readonly App[]
  scope: Scope
  session: Pick<Session, 'state' | 'basis'>
  parts: ScopeParts | null
  change: (changes: Partial<Scope>) => void
  href: (path: string, own: Record<string, string | null>) => string
}

type Option = { id: string; title: string; words?: string; icon: Choice['icon']; changes: Partial<Scope> }

const opening = ({ change }: ScopeContext, changes: Partial<Scope>): Opening => ({
  async run() {
    change(changes)
    return null
  },
})

/** The figures of an app: in the view in sight, else in the first view. */
function appChoices(context: ScopeContext): Choice[] {
  const { apps, session, scope, parts, href } = context
  const isAnyOrganization = new Set(apps.map((app) => app.organization_id)).size < 2
  const choiceOf = (id: string, title: string, own: Pick<Scope, 'apps' | 'organization'>): Choice => ({
    id: `app:${id}`,
    group: 'Apps',
    title,
    words: 'apps figures filter',
    icon: 'app',
    ...(parts === null
      ? { href: href('/', { app: own.apps.join(','), org: own.organization }) }
      : opening(context, own)),
  })
  const { organization } = scope
  const ofApps = apps.map(({ id, name, bundle_id, organization_id }) => ({
    ...choiceOf(id, name ?? bundle_id, {
      apps: [id],
      organization: isAnyOrganization || session.state !== 'owner' ? organization : organization_id,
    }),
    note: name === null ? undefined : bundle_id,
  }))
  return scope.apps.length === 0
    ? ofApps
    : [...ofApps, choiceOf('all', 'All apps', { apps: [], organization })]
}

const RANGES: readonly Option[] = RANGE_GROUPS.flat().map((range) => ({
  id: `range:${range}`,
  title: `Date range: ${RANGE_TITLES[range]}`,
  words: 'period days',
  icon: 'calendar',
  changes: { range },
}))

const COMPARING: readonly Option[] = COMPARISONS.map(({ value, title }) => ({
  id: `compare:${value}`,
  title: `Compare with: ${title}`,
  words: 'comparison before change',
  icon: 'chart',
  changes: { compare: value },
}))

const AMOUNTS: readonly Option[] = BASES.map(({ value, title }) => ({
  id: `basis:${value}`,
  title: `Amounts: ${title}`,
  words: 'basis commission net apple share',
  icon: 'revenue',
  changes: { basis: value },
}))

const currencies = (): Option[] =>
  [null, ...APPLE_CURRENCIES].map((display) => ({
    id: `display:${display ?? 'own'}`,
    title: `Display currency: ${display === null ? 'your currency' : currencyTitle(display)}`,
    words: 'convert money',
    icon: 'card',
    changes: { display },
  }))

const ENVIRONMENTS: readonly Option[] = [
  {
    id: 'environment:sandbox',
    title: 'Sandbox data',
    words: 'test environment',
    icon: 'filter',
    changes: { environment: 'sandbox' },
  },
  {
    id: 'environment:production',
    title: 'Production data',
    words: 'live environment',
    icon: 'filter',
    changes: { environment: 'production' },
  },
]

/** The options of a view's bar, without those that are chosen. */
function optionsOf({ parts, scope, session: { basis } }: ScopeContext): Option[] {
  if (parts === null) return []
  const options = [
    ...(parts === 'all' ? [...RANGES, ...COMPARING] : []),
    ...((parts === 'all' || parts === 'money') && basis === null ? AMOUNTS : []),
    ...(parts === 'place' ? [] : currencies()),
    ...ENVIRONMENTS,
  ]
  const isChosen = ({ changes }: Option): boolean =>
    Object.entries(changes).every(([name, value]) => scope[name as keyof Scope] === value)
  return options.filter((option) => !isChosen(option))
}

export const scopeChoices = (context: ScopeContext): Choice[] => [
  ...appChoices(context),
  ...optionsOf(context).map(
    ({ changes, ...option }): Choice => ({ ...option, group: 'View options', ...opening(context, changes) }),
  ),
]
