/** Divides a verification into passes that fit in memory. */
import type { Marks, Numbered } from '../upkeep/marks.ts'

/** How many sums one pass compares. Each sum takes about 200 bytes of memory. */
export const PASS_CELLS = 300_000

/** Groups parts into passes of about `max_cells` cells. Returns one empty pass if there are no parts. */
export function passesOf<Part extends { cells: number }>(
  parts: readonly Part[],
  max_cells: number,
): Part[][] {
  const passes: Part[][] = [[]]
  let size = 0
  for (const part of parts) {
    if (size > 0 && size + part.cells > max_cells) {
      passes.push([])
      size = 0
    }
    passes.at(-1)?.push(part)
    size += part.cells
  }
  return passes
}

/** Yields all lineages in order, up to `limit` at a time. */
export function* slicesOf(marks: Pick<Marks, 'following'>, limit: number): Generator<Numbered[]> {
  for (let slice = marks.following(0, limit); slice.length > 0; ) {
    yield slice
    slice = marks.following(slice.at(-1)?.id ?? 0, limit)
  }
}
