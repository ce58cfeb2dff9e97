/** What to remove from events, and from texts that copy them, for each erased user. */
import type { ScrubTarget } from '../../events/scrubbed.ts'
import type { Store } from '../../store/store.ts'

/** A user of one app, and the erasure that removes them. */
export type ErasedUser = { app_id: string; app_user_id: string; erasure_id: string }

export const scrubTargetOf = ({ app_id, app_user_id, erasure_id }: ErasedUser): ScrubTarget => ({
  app_id,
  app_user_id,
  replacement: `forgotten/${erasure_id}`,
})

/**
 * Returns a function that reads the targets of all unfinished erasures, the oldest first. Until an erasure is finished,
 * stored events and links can still name its user.
 */
export function openPendingTargets(store: Pick<Store, 'prepare'>): () => ScrubTarget[] {
  const unfinished = store.prepare<[], ErasedUser>(`
    select app_id, app_user_id, id as erasure_id from erasures
    where finished_at is null and app_user_id is not null order by asked_at, id`)
  return () => unfinished.all().map(scrubTargetOf)
}
