/** A dialog that adds or changes an annotation. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { write } from '../http.ts'
import { Dialog, useMutation } from '../parts/dialog.tsx'
import { ErrorMessage } from '../parts/error_message.tsx'
import { invalidate } from '../queries.ts'
import { OrganizationPick } from '../settings/organization_pick.tsx'
import { useSettings } from '../settings/settings_queries.ts'
import { ANNOTATIONS, type Annotation } from './annotation_query.ts'

const MAX_TEXT = 200

/** Selects an app of an organization, or all of them. */
function AppPick({ value, onPick, organization_id }: AppPickProps): JSX.Element {
  const apps = useApps().data?.apps ?? []
  return (
    <label class="field">
      <span>App</span>
      <select
        class="select"
        value={value ?? ''}
        onChange={(event) => onPick(event.currentTarget.value || null)}
      >
        <option value="">All apps</option>
        {apps
          .filter((app) => app.organization_id === organization_id)
          .map(({ id, name, bundle_id }) => (
            <option key={id} value={id}>
              {name ?? bundle_id}
            </option>
          ))}
      </select>
    </label>
  )
}
type AppPickProps = {
  value: string | null
  onPick: (id: string | null) => void
  organization_id: string | null
}

type Draft = { annotated_on: string; text: string; app: string | null; organization: string | null }

/** `annotation` is the one to change; a new one is added without it. `day` is the proposed day of a new one. */
type AnnotationDialogProps = { annotation?: Annotation; day: string; onClose: () => void }

export function AnnotationDialog({ annotation, day, onClose }: AnnotationDialogProps): JSX.Element {
  const first = useSettings().data?.organizations[0]?.id ?? null
  const [draft, setDraft] = useState<Draft>({
    annotated_on: annotation?.annotated_on ?? day,
    text: annotation?.text ?? '',
    app: annotation?.app_id ?? null,
    organization: annotation?.organization_id ?? null,
  })
  const { annotated_on, text, app } = draft
  const organization = draft.organization ?? first
  const change = (changes: Partial<Draft>): void => setDraft({ ...draft, ...changes })
  const { run, isBusy, problem } = useMutation(async () => {
    const body = { annotated_on, text, app }
    if (annotation) await write('PATCH', `${ANNOTATIONS}/${annotation.id}`, body)
    else await write('POST', ANNOTATIONS, { ...body, organization })
    await invalidate(ANNOTATIONS)
    onClose()
  })
  return (
    <Dialog title={annotation ? 'Edit annotation' : 'Add annotation'} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <label class="field">
          <span>Day</span>
          <input
            class="input"
            type="date"
            required
            value={annotated_on}
            onInput={(event) => change({ annotated_on: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Text</span>
          <input
            class="input"
            required
            maxLength={MAX_TEXT}
            placeholder="Featured by Apple"
            value={text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </label>
        {!annotation && (
          <OrganizationPick value={organization} onPick={(id) => change({ organization: id, app: null })} />
        )}
        <AppPick value={app} onPick={(id) => change({ app: id })} organization_id={organization} />
        <ErrorMessage message={problem} />
        <button type="submit" class="button main" disabled={isBusy}>
          {annotation ? 'Save' : 'Add annotation'}
        </button>
      </form>
    </Dialog>
  )
}
