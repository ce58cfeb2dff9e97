/** The expected state of a perfect appliance, for comparison in tests. */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Person } from '../world/people.ts'
import { DAY_MS } from '../world/periods.ts'
import type { Reported, ReportRange } from '../world/report_lines.ts'
import type { TransactionBody } from '../world/unsigned.ts'
import type { World } from '../world/world.ts'
import type { Timetable } from './reports.ts'

/**
 * An expected transaction. `isReachable`: a notification of the last 180 days contains a transaction of the customer,
 * with which the customer's whole history can be fetched.
 */
type TransactionTruth = {
  bundle_id: string
  environment: Environment
  customer: string
  isReachable: boolean
  transaction: TransactionBody
}

type GroundTruthOptions = {
  world: World
  clock: Clock
  timetable: Timetable
  catchUp: (until: number) => void
}

/** Opens the expected state. `catchUp` simulates the world up to an instant. */
export function openGroundTruth({ world, clock, timetable, catchUp }: GroundTruthOptions) {
  function findReachablePeople(): Set<Person> {
    const since = clock() - 180 * DAY_MS
    const people = new Set<Person>()
    for (const { payload, environment } of world.sent.all()) {
      const id = payload.data?.signedTransactionInfo?.transactionId
      if (id === undefined || payload.signedDate < since || payload.signedDate > clock()) continue
      const person = world.find(environment, id)
      if (person !== null) people.add(person)
    }
    return people
  }

  function transactionsOf(person: Person, known: boolean): TransactionTruth[] {
    const { app, environment, id: customer } = person
    return world.of(person).flatMap(({ versions }) => {
      const version = versions.findLast(({ at }) => at <= clock())
      if (version === undefined) return []
      return [
        { bundle_id: app.bundle_id, environment, customer, isReachable: known, transaction: version.body },
      ]
    })
  }

  return {
    /** Every transaction, as the history of its customer shows it now. */
    transactions(): TransactionTruth[] {
      catchUp(clock())
      const known = findReachablePeople()
      return [...world.people()].flatMap((person) => transactionsOf(person, known.has(person)))
    },
    /** The totals of the sales reports that are available now. */
    reported(range: ReportRange = {}): Reported[] {
      catchUp(clock())
      const { isPublished, isFinal, isExpired } = timetable
      return world.books.reported(
        range,
        ({ day, late }) => isPublished(day) && !isExpired(day) && (isFinal(day) || !late),
      )
    },
  }
}
