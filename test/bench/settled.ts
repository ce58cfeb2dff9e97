/** Waits until no lineage is due. */

type Settling = { settle?: () => Promise<unknown> }
type CatchingUp = {
  metrics: {
    whenCurrent?: () => Promise<unknown>
    settled?: () => Promise<unknown>
    ripen?: () => Promise<unknown>
  }
  cohorts: object
  customers: object
}

/** Resolves when metrics, cohorts and customers have counted all that is in the ledger, in a checkout of any age. */
export async function whenCurrent({ metrics, cohorts, customers }: CatchingUp): Promise<void> {
  if (metrics.whenCurrent) return void (await metrics.whenCurrent())
  await metrics.settled?.()
  await metrics.ripen?.()
  for (const one of [cohorts, customers] as Settling[]) await one.settle?.()
}
