/** Binary search among facts ordered by signing time. */

type Signed = { signed_at: number }

/** How many of `infos`, ordered by signing time, were signed before an instant. O(log n). */
export function countSignedBefore(infos: readonly Signed[], at: number): number {
  let [low, high] = [0, infos.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((infos[middle]?.signed_at ?? Infinity) < at) low = middle + 1
    else high = middle
  }
  return low
}

/** The infos signed in `[from, until)`, in order. */
export const signedWithin = <Info extends Signed>(
  infos: readonly Info[],
  from: number,
  until: number,
): readonly Info[] => infos.slice(countSignedBefore(infos, from), countSignedBefore(infos, until))
