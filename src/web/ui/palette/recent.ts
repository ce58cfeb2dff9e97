/** The recent choices, newest first. */
import { client } from '../queries.ts'
import type { Choice } from './choice.ts'

const STORAGE_KEY = 'recent_choices'
const MAX_STORED = 20
/** Customers are only in memory, in the cache that a sign-out clears. The browser stores neither their ids nor names. */
const CUSTOMERS_KEY = ['recent_customers']
const MAX_CUSTOMERS = 5

/** The ids of this page load; null before the first is read. */
let ids: readonly string[] | null = null

export function recentIds(): readonly string[] {
  ids ??= localStorage.getItem(STORAGE_KEY)?.split(',') ?? []
  return ids
}

export const recentCustomers = (): readonly Choice[] => client.getQueryData<Choice[]>(CUSTOMERS_KEY) ?? []

export function addRecent(choice: Choice): void {
  if (choice.isOnce) return
  const isCustomer = choice.group === 'Customers'
  const others = recentCustomers().filter(({ id }) => id !== choice.id)
  if (isCustomer) client.setQueryData(CUSTOMERS_KEY, [choice, ...others].slice(0, MAX_CUSTOMERS))
  ids = [choice.id, ...recentIds().filter((id) => id !== choice.id)].slice(0, MAX_STORED)
  localStorage.setItem(STORAGE_KEY, ids.filter((id) => !id.startsWith('customer:')).join(','))
}
