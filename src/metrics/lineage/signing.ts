/** What we compute: where an instant lies among facts in the order of their signing. */

type Signed = { signed_at: number }

/** How many of `infos`, in the order of their signing, were signed before an instant. Takes log₂ of their number of steps. */
export function signedBefore(infos: readonly Signed[], at: number): number {
  let [low, high] = [0, infos.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((infos[middle]?.signed_at ?? Infinity) < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Those that were signed in `[from, until)`, in order. */
export const signedWithin = <Info extends Signed>(
  infos: readonly Info[],
  from: number,
  until: number,
): readonly Info[] => infos.slice(signedBefore(infos, from), signedBefore(infos, until))
