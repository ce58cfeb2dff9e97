/** Looks up at Apple the ids that client apps named: in production, then in the sandbox. */
import { AppleFault } from '../../apple/api/faults.ts'
import type { ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import type { Store } from '../../store/store.ts'
import type { CustomerHistory } from './customer_history.ts'
import { isUnknownApp } from './faults.ts'
import type { Lineages } from './lineages.ts'
import type { Lookup, LookupOutcome, Lookups } from './lookups.ts'
import { forEachConcurrently } from './pool.ts'

const CONCURRENCY = 4
const SLICE = 100
const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

/** The number of ids requested, and of those that Apple knew. */
export type LookupCounts = { requested: number; found: number }

type Deps = { store: Store; lookups: Lookups; lineages: Lineages; customerHistory: CustomerHistory }
type LookupRequest = { app: App; api: ServerApi; signal: AbortSignal }

export function openLookup({ store, lookups, lineages, customerHistory }: Deps) {
  /**
   * Looks up every due id of an app. What is found is history from before Windfall knew of it, and enters without
   * live events: a purchase that happens now has a notification of its own.
   *
   * @throws AppleFault; ids looked up before it stay so.
   */
  async function run(requested: LookupRequest, counts: LookupCounts): Promise<void> {
    for (;;) {
      const due = lookups.due(requested.app.id, SLICE)
      await forEachConcurrently(due, CONCURRENCY, (lookup) => settle(requested, lookup, counts))
      if (due.length < SLICE) return
    }
  }

  async function settle(requested: LookupRequest, lookup: Lookup, counts: LookupCounts): Promise<void> {
    if (hasNotification(requested.app, lookup)) return store.commitBulk(() => lookups.settle(lookup, 'known'))
    counts.requested += 1
    const outcome = await outcomeOf(requested, lookup)
    if (outcome === 'found') counts.found += 1
    await store.commitBulk(() =>
      outcome === null ? lookups.postpone(lookup) : lookups.settle(lookup, outcome),
    )
  }

  const hasNotification = (app: App, { original_transaction_id }: Lookup): boolean =>
    ENVIRONMENTS.some((environment) =>
      lineages.hasNotification({ app, environment }, original_transaction_id),
    )

  /** Null while Apple knows the id in neither environment. */
  async function outcomeOf(
    requested: LookupRequest,
    { original_transaction_id }: Lookup,
  ): Promise<LookupOutcome | null> {
    for (const environment of ENVIRONMENTS) {
      const outcome = await lookUpIn(environment, requested, original_transaction_id)
      if (outcome !== null) return outcome
    }
    return null
  }

  async function lookUpIn(
    environment: Environment,
    requested: LookupRequest,
    id: string,
  ): Promise<LookupOutcome | null> {
    const historyRequest = { ...requested, appEnvironment: { app: requested.app, environment } }
    try {
      if (!(await customerHistory.transactions(historyRequest, id))) return null
      await customerHistory.statuses(historyRequest, id)
      return 'found'
    } catch (error) {
      if (isUnknownApp(error)) return null
      if (error instanceof AppleFault && error.kind === 'refused') return 'refused'
      throw error
    }
  }

  return { run }
}
