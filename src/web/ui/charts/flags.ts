/** Places the flags of annotations so that they do not overlap. */

/** Flags nearer than this many pixels are one. */
const MIN_DISTANCE = 22

export type Flag = { x: number; count: number }

/**
 * The flags of annotated points, from left to right. Near ones become one that counts their notes. `x` is in pixels of the
 * canvas, of which one pixel of the page has `ratio`.
 */
export function mergedFlags(points: readonly Flag[], ratio: number): Flag[] {
  const flags: Flag[] = []
  for (const { x, count } of points.toSorted((a, b) => a.x - b.x)) {
    const last = flags.at(-1)
    if (last && x - last.x < MIN_DISTANCE * ratio) last.count += count
    else flags.push({ x, count })
  }
  return flags
}
