/** What we remember: the ids that client apps named, looked up at Apple: in production, and in the sandbox where it is unknown there. */
import { AppleFault } from '../../apple/api/faults.ts'
import type { ServerApi } from '../../apple/api/server.ts'
import type { Environment } from '../../apple/payloads.ts'
import type { App } from '../../apps/apps.ts'
import type { Store } from '../../store/store.ts'
import type { Asking } from './customer_history.ts'
import { isUnknownApp } from './faults.ts'
import type { Lineages } from './lineages.ts'
import type { Lookup, LookupOutcome, Lookups } from './lookups.ts'
import { forEachOf } from './pool.ts'

const AT_ONCE = 4
const SLICE = 100
const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

/** How many ids were asked for, and how many of them Apple knew. */
export type LookedUp = { asked: number; found: number }

type Deps = { store: Store; lookups: Lookups; lineages: Lineages; asking: Asking }
type Asked = { app: App; api: ServerApi; signal: AbortSignal }

export function openLookup({ store, lookups, lineages, asking }: Deps) {
  /**
   * Asks for every id of an app whose time has come. What is found is history that was over when we first heard of it,
   * and enters as silently: a purchase that happens now has a notification of its own.
   *
   * @throws AppleFault; what was asked before it stays asked.
   */
  async function run(asked: Asked, tally: LookedUp): Promise<void> {
    for (;;) {
      const due = lookups.due(asked.app.id, SLICE)
      await forEachOf(due, AT_ONCE, (lookup) => settle(asked, lookup, tally))
      if (due.length < SLICE) return
    }
  }

  async function settle(asked: Asked, lookup: Lookup, tally: LookedUp): Promise<void> {
    if (isToldOf(asked.app, lookup)) return store.commitBulk(() => lookups.settle(lookup, 'known'))
    tally.asked += 1
    const outcome = await outcomeOf(asked, lookup)
    if (outcome === 'found') tally.found += 1
    await store.commitBulk(() =>
      outcome === null ? lookups.postpone(lookup) : lookups.settle(lookup, outcome),
    )
  }

  const isToldOf = (app: App, { original_transaction_id }: Lookup): boolean =>
    ENVIRONMENTS.some((environment) => lineages.isToldOf({ app, environment }, original_transaction_id))

  /** Null while Apple knows it nowhere. */
  async function outcomeOf(asked: Asked, { original_transaction_id }: Lookup): Promise<LookupOutcome | null> {
    for (const environment of ENVIRONMENTS) {
      const outcome = await askIn(environment, asked, original_transaction_id)
      if (outcome !== null) return outcome
    }
    return null
  }

  async function askIn(environment: Environment, asked: Asked, id: string): Promise<LookupOutcome | null> {
    const question = { ...asked, realm: { app: asked.app, environment } }
    try {
      if (!(await asking.transactions(question, id))) return null
      await asking.statuses(question, id)
      return 'found'
    } catch (error) {
      if (isUnknownApp(error)) return null
      if (error instanceof AppleFault && error.kind === 'refused') return 'refused'
      throw error
    }
  }

  return { run }
}
