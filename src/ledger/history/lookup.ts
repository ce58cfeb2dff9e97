/** Requests the transactions of ids that client apps sent from Apple: in production, then in the sandbox. */
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
const IDS_PER_SLICE = 100
const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

/** The number of ids that were requested from Apple, and the number of them that Apple knew. */
export type LookupCounts = { requested: number; found: number }

type Deps = { store: Store; lookups: Lookups; lineages: Lineages; customerHistory: CustomerHistory }
type LookupRequest = { app: App; api: ServerApi; signal: AbortSignal }

export function openLookup({ store, lookups, lineages, customerHistory }: Deps) {
  /**
   * Looks up every due id of an app. The transactions that Apple returns are applied as backfill, without live events:
   * a purchase that happens now has its own notification.
   *
   * @throws AppleFault; the results of earlier ids are stored.
   */
  async function run(requested: LookupRequest, counts: LookupCounts): Promise<void> {
    for (;;) {
      const due = lookups.due(requested.app.id, IDS_PER_SLICE)
      await forEachConcurrently(due, CONCURRENCY, (lookup) => settle(requested, lookup, counts))
      if (due.length < IDS_PER_SLICE) return
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

  /** The outcome of looking up an id in both environments; null if Apple knows it in neither. */
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
