import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CustomerIdentifiers, customerId, openCustomers } from '../../src/ledger/customers.ts'
import { openStore } from '../../src/store/store.ts'
import { temporaryFolder } from '../folders.ts'
import { runs } from '../random.ts'

const APP = 'app_one'

async function withCustomers<T>(
  work: (customers: ReturnType<typeof openCustomers>, rows: () => unknown[]) => T,
): Promise<T> {
  const folder = temporaryFolder()
  const store = openStore(`${folder.path}/test.db`)
  try {
    const customers = openCustomers(store)
    const rows = () => [
      ...store.prepare('select * from customers order by id').all(),
      ...store.prepare('select * from customer_bridges order by 1, 2, 3, 4').all(),
    ]
    return await store.commit(() => work(customers, rows))
  } finally {
    await store.close()
    folder.remove()
  }
}

const clue = (
  original_transaction_id: string,
  original_purchased_at: number | null,
  app_transaction_id: string | null,
): CustomerIdentifiers => ({
  original_transaction_id,
  original_purchased_at,
  app_transaction_ids: app_transaction_id === null ? [] : [app_transaction_id],
})
const idOf = (lineage: string) => customerId(APP, 'production', lineage)

/** The components, computed naively: join all that share an id until nothing changes. */
function componentsOf(clues: readonly CustomerIdentifiers[]): Map<string, string> {
  const names = new Map(clues.map((one) => [one.original_transaction_id, one.original_transaction_id]))
  for (let changed = true; changed; ) {
    changed = false
    for (const a of clues) {
      for (const b of clues) {
        const nameOfA = names.get(a.original_transaction_id) ?? ''
        const nameOfB = names.get(b.original_transaction_id) ?? ''
        const isJoined =
          a.original_transaction_id === b.original_transaction_id ||
          a.app_transaction_ids.some((id) => b.app_transaction_ids.includes(id))
        if (isJoined && nameOfA < nameOfB) {
          names.set(b.original_transaction_id, nameOfA)
          changed = true
        }
      }
    }
  }
  return names
}

const someClues = fc.array(
  fc.record({
    original_transaction_id: fc.constantFrom(...'ABCDEFGH'),
    original_purchased_at: fc.option(fc.integer({ min: 1, max: 9 }), { freq: 5 }),
    app_transaction_ids: fc.array(fc.constantFrom('x', 'y', 'z', 'w'), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 14 },
)

test('the same ids in any order, with any repetition, give the same rows', async () => {
  const property = fc.asyncProperty(someClues, fc.infiniteStream(fc.nat()), async (clues, chance) => {
    const shuffled = [...clues, ...clues.slice(0, 3)]
      .map((one) => [chance.next().value, one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one)
    const learn = (list: readonly CustomerIdentifiers[]) =>
      withCustomers((customers, rows) => {
        for (const one of list) customers.identify(APP, 'production', one)
        return rows()
      })
    expect(await learn(shuffled)).toEqual(await learn(clues))
  })
  await fc.assert(property, runs(60, 1_500))
})

test('customers are the connected components, led by the least (original_purchased_at, id)', async () => {
  const property = fc.asyncProperty(someClues, async (clues) => {
    const components = componentsOf(clues)
    await withCustomers((customers) => {
      for (const one of clues) customers.identify(APP, 'production', one)
      for (const [lineage, name] of components) {
        const members = [...components].filter(([, other]) => other === name).map(([member]) => member)
        const dated = members.map((member) => {
          const dates = clues
            .filter((one) => one.original_transaction_id === member && one.original_purchased_at !== null)
            .map((one) => one.original_purchased_at ?? 0)
          return { id: idOf(member), date: dates.length ? Math.min(...dates) : Number.POSITIVE_INFINITY }
        })
        dated.sort((a, b) => (a.date === b.date ? (a.id < b.id ? -1 : 1) : a.date - b.date))
        expect(customers.resolve(idOf(lineage))).toBe(dated[0]?.id)
        expect(
          customers
            .lineages(dated[0]?.id ?? '')
            .map((one) => one.original_transaction_id)
            .sort(),
        ).toEqual(members.sort())
      }
    })
  })
  await fc.assert(property, runs(60, 1_500))
})

test('a late bridge merges two customers, and both old ids still resolve', () =>
  withCustomers((customers) => {
    customers.identify(APP, 'production', clue('A', 5, null))
    customers.identify(APP, 'production', clue('B', 3, null))
    expect(customers.resolve(idOf('A'))).toBe(idOf('A'))
    customers.identify(APP, 'production', clue('A', 5, 'x'))
    expect(customers.identify(APP, 'production', clue('B', 3, 'x'))).toEqual({
      canonical_id: idOf('B'),
      merged: [idOf('A')],
    })
    expect(customers.resolve(idOf('A'))).toBe(idOf('B'))
    expect(customers.resolve(idOf('B'))).toBe(idOf('B'))
  }))

test('a second purchase of a known customer joins it without a merge', () =>
  withCustomers((customers) => {
    customers.identify(APP, 'production', clue('A', 3, 'x'))
    expect(customers.identify(APP, 'production', clue('B', 5, 'x'))).toEqual({
      canonical_id: idOf('A'),
      merged: [],
    })
    expect(customers.identify(APP, 'production', clue('C', 1, 'x'))).toEqual({
      canonical_id: idOf('C'),
      merged: [idOf('A')],
    })
  }))

test('app account tokens, environments and apps never join customers', () =>
  withCustomers((customers) => {
    customers.identify(APP, 'production', clue('A', 5, 'x'))
    customers.identify(APP, 'sandbox', clue('B', 3, 'x'))
    customers.identify('app_two', 'production', clue('C', 1, 'x'))
    expect(customers.resolve(idOf('A'))).toBe(idOf('A'))
    expect(customers.lineages(idOf('A'))).toHaveLength(1)
  }))

test('an unknown id resolves to null', () =>
  withCustomers((customers) => {
    expect(customers.resolve('cus_000000000000000000000000')).toBeNull()
    expect(customers.lineages('cus_000000000000000000000000')).toEqual([])
  }))
