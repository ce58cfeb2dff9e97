/** The transactions of each simulated customer, with every revision. */
import type { Environment } from '../../apple/payloads.ts'
import type { Person } from './people.ts'
import { type Sale, type Subscription, transactionOf } from './subscription.ts'
import type { TransactionBody } from './unsigned.ts'

/** A transaction as it stood from `at` on. */
type Version = { at: number; body: TransactionBody }

export type HeldTransaction = { sub: Subscription | null; sale: Sale; versions: Version[] }

export type Holdings = ReturnType<typeof openHoldings>

/** `instant`: that of the next signature for a customer, which is the one that tells of what happens now. */
export function openHoldings(instant: (person: Person) => number) {
  const byPerson = new Map<Person, HeldTransaction[]>()
  const bySale = new Map<Sale, { person: Person; held: HeldTransaction }>()
  const byId = new Map<string, Person>()

  function version(person: Person, sale: Sale): Version {
    const at = instant(person)
    return { at, body: transactionOf(sale, person, at) }
  }

  return {
    /** Adds a transaction of a customer. */
    add(person: Person, sale: Sale, sub: Subscription | null): void {
      const held = { sub, sale, versions: [version(person, sale)] }
      const list = byPerson.get(person) ?? []
      list.push(held)
      byPerson.set(person, list)
      bySale.set(sale, { person, held })
      byId.set(`${person.environment} ${sale.transactionId}`, person)
      byId.set(`${person.environment} ${person.app_transaction_id}`, person)
    },
    /** Adds a revision of a transaction, which its customer's history has from now on. */
    update(sale: Sale, change: () => void): void {
      change()
      const known = bySale.get(sale)
      known?.held.versions.push(version(known.person, sale))
    },
    /** By the id of any of their transactions, or by their appTransactionId. */
    find: (environment: Environment, id: string): Person | null => byId.get(`${environment} ${id}`) ?? null,
    of: (person: Person): readonly HeldTransaction[] => byPerson.get(person) ?? [],
    /** Everybody who holds something, in the order of their first purchase. */
    people: (): Iterable<Person> => byPerson.keys(),
  }
}
