/** Reads in slices use an index in the order of the slices; another index would read the whole table each time. */
import { expect, test } from 'vitest'
import { openSearch } from '../../../src/metrics/customers/search.ts'
import { openUserSearch } from '../../../src/metrics/customers/user_search.ts'
import { openRowReader } from '../../../src/metrics/sums/row_sums.ts'
import type { Store } from '../../../src/store/store.ts'
import { openTestStore } from '../../store/open.ts'

/** The query plans of statements with `> :after`, in a database without statistics, like a new one. */
function plansOf(open: (store: Store) => unknown): string[][] {
  const { store } = openTestStore()
  const texts: string[] = []
  const prepare: Store['prepare'] = (sql) => {
    texts.push(sql)
    return store.prepare(sql)
  }
  open({ ...store, prepare })
  return texts
    .filter((sql) => sql.includes('> :after'))
    .map((sql) => {
      const given = Object.fromEntries([...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name, null]))
      const steps = store.prepare<object, { detail: string }>(`explain query plan ${sql}`).all(given)
      return steps.map(({ detail }) => detail)
    })
}

test('a search among users reads them in the order of their numbers', () => {
  const plans = plansOf((store) =>
    openUserSearch(
      store,
      openSearch(store, () => false),
    ),
  )
  expect(plans).toHaveLength(1)
  expect(plans[0]?.[0]).toBe('SEARCH users USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)')
})

test('rows of subscriptions and users are read in the order of their numbers', () => {
  const plans = plansOf(openRowReader)
  expect(plans).toHaveLength(2)
  expect(plans[0]?.[0]).toBe('SEARCH u USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)')
  expect(plans[1]?.[0]).toBe(
    'SEARCH metric_counted USING COVERING INDEX metric_counted_provisional (lineage_id>?)',
  )
  expect(plans.flat()).not.toContain('USE TEMP B-TREE FOR ORDER BY')
})
