/** Everything that the search finds for a text. */
import type { InferOutput } from 'valibot'
import type { DefinitionsAnswer } from '../../../api/metrics/answers.ts'
import type { NavigationView } from '../addresses.ts'
import { useApps } from '../apps.ts'
import type { Problem } from '../http.ts'
import { useQuery } from '../queries.ts'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { actionChoices } from './actions.ts'
import { useCustomers, useRecentCustomers } from './customer_choices.ts'
import { type Group, groupsFor } from './matching.ts'
import { metricChoices } from './metric_choices.ts'
import { pageChoices } from './pages.ts'
import { recentIds } from './recent.ts'
import { scopeChoices, shownParts } from './scope_choices.ts'

/** What could not be listed, and why. */
export type Gap = { what: string; problem: Problem; retry: () => void }

export type Found = { groups: Group[]; isSearching: boolean; gaps: Gap[] }

/** `views`: those of the navigation. `onShortcuts` opens the list of shortcuts. */
export function useFound(text: string, views: readonly NavigationView[], onShortcuts: () => void): Found {
  const session = useSession()
  const { scope, change, href } = useScope()
  const apps = useApps()
  const definitions = useQuery<InferOutput<typeof DefinitionsAnswer>>('/api/v1/metrics')
  const customers = useCustomers(text)
  const known = useRecentCustomers()
  const choices = [
    ...pageChoices(views, session, href),
    ...(definitions.data ? metricChoices(definitions.data, session, href) : []),
    ...scopeChoices({ apps: apps.data?.apps ?? [], scope, session, parts: shownParts(), change, href }),
    ...actionChoices(onShortcuts),
  ]
  const isFound = new Set(customers.choices.map(({ id }) => id))
  const others = known.filter(({ id }) => !isFound.has(id))
  const groups = groupsFor(text, [...choices, ...others], recentIds())
  const gaps = [
    { what: 'Customers', ...customers },
    { what: 'Metrics', ...definitions },
    { what: 'Apps', ...apps },
  ].flatMap(({ what, problem, retry }) => (problem === null ? [] : [{ what, problem, retry }]))
  const isLoading = definitions.isPending && definitions.problem === null
  return {
    groups: withCustomers(groups, customers.choices),
    isSearching: customers.isSearching || (isLoading && text.trim() !== ''),
    gaps,
  }
}

/** Customers are the last group, so that their late answer moves nothing. */
function withCustomers(groups: Group[], found: Group['choices']): Group[] {
  const others = groups.filter(({ title }) => title !== 'Customers')
  const known = groups.find(({ title }) => title === 'Customers')?.choices ?? []
  const customers = [...known, ...found]
  return customers.length === 0 ? others : [...others, { title: 'Customers', choices: customers }]
}
