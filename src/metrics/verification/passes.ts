/** What we compute: how much is held in memory at once. */
import type { Marks, Numbered } from '../upkeep/marks.ts'

/** Sums of one pass; each takes some 200 bytes. */
export const CELLS_AT_ONCE = 300_000

/** Parts in groups of about so many cells. At least one group, which has no part where there is none. */
export function passesOf<Part extends { cells: number }>(parts: readonly Part[], most: number): Part[][] {
  const passes: Part[][] = [[]]
  let size = 0
  for (const part of parts) {
    if (size > 0 && size + part.cells > most) {
      passes.push([])
      size = 0
    }
    passes.at(-1)?.push(part)
    size += part.cells
  }
  return passes
}

/** All lineages in order, so many at once. */
export function* slicesOf(marks: Pick<Marks, 'following'>, limit: number): Generator<Numbered[]> {
  for (let some = marks.following(0, limit); some.length > 0; ) {
    yield some
    some = marks.following(some.at(-1)?.id ?? 0, limit)
  }
}
