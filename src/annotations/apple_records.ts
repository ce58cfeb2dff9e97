/** Stores notes from Apple, and when the lists that they follow from were last read. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import { newId } from '../ids.ts'
import type { Store } from '../store/store.ts'
import { openAnnotationRows } from './annotation_rows.ts'
import type { AppleNote } from './apple_notes.ts'

export const SUBJECTS = ['versions', 'prices'] as const
export type Subject = (typeof SUBJECTS)[number]
/** When an app's versions or prices were last read, in ms, and why Apple refused the last read. */
type AppleRead = { app_id: string; what: Subject; read_at: number | null; refused: string | null }

/** The notes that follow from Apple's lists. `isWhole` is false if one of the lists could not be read. */
export type Listed = { notes: AppleNote[]; isWhole: boolean }

/** Opens the records. */
export function openAppleRecords(store: Store, clock: Clock) {
  const rows = openAnnotationRows(store)
  const selectReads = store.prepare<[], AppleRead>('select * from annotation_reads order by app_id, what')
  const selectReadAt = store
    .prepare<[string, string], number | null>(
      'select read_at from annotation_reads where app_id = ? and what = ?',
    )
    .pluck()
  const saveRead = store.prepare<AppleRead>(`
    insert into annotation_reads (app_id, what, read_at, refused) values (:app_id, :what, :read_at, :refused)
    on conflict (app_id, what) do update set read_at = ifnull(excluded.read_at, read_at), refused = excluded.refused`)

  /**
   * Stores a note about an app, unless it is there, changed or deleted. A scheduled price may change until its day.
   * Returns whether the note is new.
   */
  function noteFromApple({ id: app_id, organization_id }: App, note: AppleNote): boolean {
    const known = rows.bySource.get(app_id, note.source_key)
    if (!known) {
      const times = { created_at: clock(), updated_at: clock(), deleted_at: null }
      rows.insert.run({ ...note, ...times, id: newId('ann'), organization_id, app_id })
      return true
    }
    const isUntouched = known.deleted_at === null && known.created_at === known.updated_at
    const { annotated_on, text } = note
    if (isUntouched && (known.text !== text || known.annotated_on !== annotated_on))
      rows.update.run({ id: known.id, app_id, annotated_on, text, updated_at: known.updated_at })
    return false
  }

  return {
    /** All reads. */
    reads: (): AppleRead[] => selectReads.all(),
    readAt: (app_id: string, what: Subject): number | null => selectReadAt.get(app_id, what) ?? null,
    /** The keys of the notes about an app, deleted ones included. */
    knownKeys: (app_id: string): Set<string> => new Set(rows.keysOf.all(app_id)),
    /** Notes a refusal. Inside a unit of work. */
    noteRefusal: (app_id: string, what: Subject, refused: string): void =>
      void saveRead.run({ app_id, what, read_at: null, refused }),

    /**
     * Stores the notes of a read and, if it is whole, deletes those on scheduled prices that Apple no longer lists. `today`
     * is the organization's. Returns the number of new notes. Inside a unit of work.
     */
    noteRead(app: App, what: Subject, { notes, isWhole }: Listed, today: string): number {
      saveRead.run({ app_id: app.id, what, read_at: clock(), refused: null })
      const keys = JSON.stringify(notes.map(({ source_key }) => source_key))
      if (what === 'prices' && isWhole) rows.removeUnlisted.run(app.id, today, keys)
      return notes.filter((note) => noteFromApple(app, note)).length
    },
  }
}
