/** Annotations: notes on days of the charts, by the owner, by a program with a token, or from Apple. */
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Store } from '../store/store.ts'
import type { Annotation } from './annotation.ts'
import { openAnnotationRows } from './annotation_rows.ts'

/** The fields that a person or a program writes. */
type Note = Pick<Annotation, 'app_id' | 'annotated_on' | 'text'>
type Changes = { [Field in keyof Note]?: Note[Field] | undefined }

/**
 * What to list. `apps` are the ids whose notes are wanted, `organizations` those whose notes about all apps are. `from`
 * and `to` are days; `before` is `next` of the previous page.
 */
type Filter = {
  apps: readonly string[]
  organizations: readonly string[]
  from: string | null
  to: string | null
  before: string | null
  limit: number
}

/** The most notes that an organization has from its owner and its programs. */
const MAX_NOTES = 5_000

export type Annotations = ReturnType<typeof openAnnotations>

/** Opens the annotations. */
export function openAnnotations({ store, clock }: { store: Store; clock: Clock }) {
  const rows = openAnnotationRows(store)

  /** A page of annotations, newest day first, and where the next page begins; null on the last. */
  function list({ apps, organizations, limit, ...rest }: Filter) {
    const lists = { apps: JSON.stringify(apps), organizations: JSON.stringify(organizations) }
    const found = rows.page.all({ ...rest, ...lists, limit: limit + 1 })
    const annotations = found.slice(0, limit)
    const last = annotations.at(-1)
    return { annotations, next: last && found.length > limit ? `${last.annotated_on} ${last.id}` : null }
  }

  /** The annotation with this id. @throws Refusal 404 `unknown_annotation`. */
  function get(id: string): Annotation {
    const row = rows.byId.get(id)
    if (row) return row
    throw new Refusal(404, 'unknown_annotation', `there is no annotation ${id.slice(0, 40)}`)
  }

  /** Adds a note. Inside a unit of work. @throws Refusal 409 `too_many_annotations`. */
  function add(organization_id: string, note: Note, source: 'owner' | 'token'): Annotation {
    if ((rows.countWritten.get(organization_id) ?? 0) >= MAX_NOTES) {
      const detail = `an organization has at most ${MAX_NOTES} annotations; delete old ones`
      throw new Refusal(409, 'too_many_annotations', detail)
    }
    const times = { created_at: clock(), updated_at: clock(), deleted_at: null }
    const id = newId('ann')
    rows.insert.run({ ...note, ...times, id, organization_id, source, source_key: null })
    return get(id)
  }

  /** Changes a note; one from Apple keeps the change. Inside a unit of work. @throws Refusal 404 as `get`. */
  function change(id: string, changes: Changes): Annotation {
    const known = get(id)
    const { annotated_on = known.annotated_on, text = known.text } = changes
    const app_id = changes.app_id === undefined ? known.app_id : changes.app_id
    rows.update.run({ id, app_id, annotated_on, text, updated_at: clock() })
    return get(id)
  }

  /** Deletes a note; one from Apple does not come back. Inside a unit of work. @throws Refusal 404 as `get`. */
  function drop(id: string): void {
    const { source } = get(id)
    if (source === 'version' || source === 'price') rows.hide.run(clock(), id)
    else rows.remove.run(id)
  }

  return { list, get, add, change, drop }
}
