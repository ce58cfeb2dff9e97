/**
 * Deletes messages and digests that are older than 400 days, so that the history does not grow without end. The few about
 * milestones stay, because no milestone is reported twice.
 */
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'

const DAY_MS = 86_400_000
/** Longer than a year, so that the same day a year ago can still be looked up. */
const KEEP_MS = 400 * DAY_MS
/** The number of messages that one unit of work deletes. */
const SLICE = 200

/** Opens the deletion. */
export function openMessageRetention(store: Store, clock: Clock) {
  const oldest = store.prepare<[number, number], { id: string }>(`
    select id from alert_messages where created_at < ? and kind <> 'milestone'
      and not exists (select 1 from alert_sends where message_id = alert_messages.id and due_at is not null)
    order by created_at, id limit ?`)
  // A message that a summary tells is older than the summary, except after the clock was set back.
  const leaveSummary = store.prepare<[string]>(
    'update alert_sends set summary_id = null where summary_id = ?',
  )
  const deletions = [
    'delete from alert_sends where message_id = ?',
    'delete from alert_digests where message_id = ?',
    'delete from alert_messages where id = ?',
  ].map((sql) => store.prepare<[string]>(sql))
  const deleteSkipped = store.prepare<[number]>(
    'delete from alert_digests where message_id is null and made_at < ?',
  )

  /** Deletes what is too old. Resolves to the number of deleted messages. */
  async function expire(): Promise<number> {
    const before = clock() - KEEP_MS
    await store.commit(() => void deleteSkipped.run(before))
    for (let deleted = 0; ; ) {
      const count = await store.commit(() => {
        const rows = oldest.all(before, SLICE)
        for (const { id } of rows) {
          leaveSummary.run(id)
          for (const deletion of deletions) deletion.run(id)
        }
        return rows.length
      })
      deleted += count
      if (count < SLICE) return deleted
      await yieldToEventLoop()
    }
  }

  return expire
}
