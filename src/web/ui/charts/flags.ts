/** Which annotated points of a chart share a flag. */

/** A flag for one or more annotated points; `count` is the number of annotations. */
export type Flag = { x: number; count: number }

/** The flags of annotated points. Those nearer than `distance` to the one before are merged. */
export function flagsOf(points: readonly Flag[], distance: number): Flag[] {
  const flags: Flag[] = []
  let lastX = Number.NEGATIVE_INFINITY
  for (const { x, count } of points.toSorted((one, other) => one.x - other.x)) {
    const last = flags.at(-1)
    if (last && x - lastX < distance) last.count += count
    else flags.push({ x, count })
    lastX = x
  }
  return flags
}
