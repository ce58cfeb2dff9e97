/** What we remember: which generation of the sums is shown, and what is read of it whole. */
import type { Store } from '../store/store.ts'

/** How often sums are read anew where others took their place meanwhile. */
const TRIES = 5

export function openShown(store: Store) {
  const shown = store.prepare<[], { generation: number }>(
    'select generation from metric_generations where made_up_to is null',
  )

  /** The generation that is shown; null while nothing has ever been counted. */
  const generation = (): number | null => shown.get()?.generation ?? null

  /**
   * What `read` makes of the generation that is shown, in slices between which others get a turn: begun anew where another
   * took its place meanwhile. `empty` while nothing has ever been counted.
   */
  async function reading<Found>(empty: Found, read: (generation: number) => Promise<Found>): Promise<Found> {
    for (let tries = 1; ; tries += 1) {
      const of = generation()
      if (of === null) return empty
      const found = await read(of)
      if (of === generation() || tries === TRIES) return found
    }
  }

  return { generation, reading }
}
