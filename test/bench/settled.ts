/** Waits until the figures of a checkout include everything that was taken in. */

type CatchingUp = { metrics: { whenCurrent: () => Promise<unknown> } }

/** Resolves when metrics, cohorts and customers have counted all that is in the ledger. */
export async function whenCurrent({ metrics }: CatchingUp): Promise<void> {
  await metrics.whenCurrent()
}
