/** Halts the work of forwarding between an await and a commit, so that something else can happen there. */
import type { Store } from '../../src/store/store.ts'

export const SIDES = ['before it is handed in', 'before its caller goes on'] as const
export type Side = (typeof SIDES)[number]

/** Halts the n-th commit, before or after it, while `during` runs. Returns how many commits there were. */
export function openGate(store: Store, nth: number, side: Side | undefined, during: () => Promise<void>) {
  const { commit } = store
  let commits = 0
  store.commit = async (work) => {
    commits += 1
    const isHere = commits === nth
    if (isHere && side === SIDES[0]) await during()
    const done = await commit(work)
    if (isHere && side === SIDES[1]) await during()
    return done
  }
  return () => commits
}
