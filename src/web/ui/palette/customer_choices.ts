/** The customers that a typed text finds. */
import type { InferOutput } from 'valibot'
import type { CustomersAnswer } from '../../../api/customers/answers.ts'
import { appName, useApps } from '../apps.ts'
import { type Customer, customerScopeQuery, statusLabel } from '../customers/customer.ts'
import { customerName } from '../customers/person.tsx'
import type { Problem } from '../http.ts'
import { useDebounced } from '../parts/use_debounced.ts'
import { useQuery } from '../queries.ts'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import type { Choice } from './choice.ts'
import { recentCustomers } from './recent.ts'

/** The letters from which customers are searched. */
const MIN_LENGTH = 2
const MAX_FOUND = 5

type Found = { choices: Choice[]; isSearching: boolean; problem: Problem | null; retry: () => void }

const PREFIX = 'customer:'

function choiceOf(customer: Customer, app: string | null, href: (path: string) => string): Choice {
  const [userId] = customer.app_user_ids
  return {
    id: `${PREFIX}${customer.id}`,
    group: 'Customers',
    title: customerName(customer),
    note: [customer.display_name !== null && userId, app].filter(Boolean).join(' · '),
    badge: statusLabel(customer.status),
    icon: 'person',
    href: href(`/customers/${customer.id}`),
  }
}

/** The recent customers, with the scope of now. */
export function useRecentCustomers(): Choice[] {
  const { href } = useScope()
  if (useSession().state !== 'owner') return []
  return recentCustomers().map((choice) => ({
    ...choice,
    href: href(`/customers/${choice.id.slice(PREFIX.length)}`),
  }))
}

/** Searches the customers in scope after a pause in typing. Never returns those of an earlier text. */
export function useCustomers(text: string): Found {
  const { scope, href } = useScope()
  const { state } = useSession()
  const apps = useApps().data?.apps
  const typed = text.trim()
  const settled = useDebounced(typed)
  const isWanted = state === 'owner' && typed.length >= MIN_LENGTH
  const wait = !isWanted || settled !== typed || (scope.organization !== null && !apps)
  const query = { ...customerScopeQuery(scope, apps ?? []), query: settled, limit: MAX_FOUND }
  const result = useQuery<InferOutput<typeof CustomersAnswer>>('/api/v1/customers', query, { wait })
  const isSearching = isWanted && (wait || result.isPrevious || result.isPending)
  if (!isWanted || isSearching || !result.data)
    return {
      choices: [],
      isSearching,
      problem: isWanted && !isSearching ? result.problem : null,
      retry: result.retry,
    }
  const { customers, next } = result.data
  const choices = customers.map((customer) =>
    choiceOf(customer, apps && apps.length > 1 ? appName(apps, customer.app_id) : null, href),
  )
  const all: Choice = {
    id: 'customers',
    group: 'Customers',
    title: `All customers with “${typed}”`,
    icon: 'search',
    isOnce: true,
    href: href('/customers', { q: typed }),
  }
  return {
    choices: next === null ? choices : [...choices, all],
    isSearching,
    problem: null,
    retry: result.retry,
  }
}
