/** The transactions of each simulated customer, with every revision. */
import type { Environment } from '../../apple/payloads.ts'
import type { Person } from './people.ts'
import { type Sale, type Subscription, transactionOf } from './subscription.ts'
import type { TransactionBody } from './unsigned.ts'

/** A revision of a transaction, which is current from `at` until the next revision. */
type Version = { at: number; body: TransactionBody }

export type HeldTransaction = { sub: Subscription | null; sale: Sale; versions: Version[] }

export type Holdings = ReturnType<typeof openHoldings>

/** Opens the holdings. `instant` returns the instant of the next signature for a customer. */
export function openHoldings(instant: (person: Person) => number) {
  const heldByPerson = new Map<Person, HeldTransaction[]>()
  const heldBySale = new Map<Sale, { person: Person; held: HeldTransaction }>()
  const personById = new Map<string, Person>()

  function newVersion(person: Person, sale: Sale): Version {
    const at = instant(person)
    return { at, body: transactionOf(sale, person, at) }
  }

  return {
    /** Adds a transaction of a customer. */
    add(person: Person, sale: Sale, sub: Subscription | null): void {
      const held = { sub, sale, versions: [newVersion(person, sale)] }
      const heldList = heldByPerson.get(person) ?? []
      heldList.push(held)
      heldByPerson.set(person, heldList)
      heldBySale.set(sale, { person, held })
      personById.set(`${person.environment} ${sale.transactionId}`, person)
      personById.set(`${person.environment} ${person.app_transaction_id}`, person)
    },
    /** Changes a transaction and adds the result as its current revision. */
    update(sale: Sale, change: () => void): void {
      change()
      const entry = heldBySale.get(sale)
      entry?.held.versions.push(newVersion(entry.person, sale))
    },
    /** Finds a customer by the id of any of their transactions, or by their appTransactionId. */
    find: (environment: Environment, id: string): Person | null =>
      personById.get(`${environment} ${id}`) ?? null,
    of: (person: Person): readonly HeldTransaction[] => heldByPerson.get(person) ?? [],
    /** Every customer with a transaction, in the order of their first purchases. */
    people: (): Iterable<Person> => heldByPerson.keys(),
  }
}
