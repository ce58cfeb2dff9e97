/** The dialogs that add, change and delete an endpoint. */
import '../../../loading/event_views.ts'
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { write } from '../../../http.ts'
import { Confirm, Dialog, useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { useScope } from '../../../scope.ts'
import { useReauth } from '../../../sign_in/reauth.tsx'
import { useSettings } from '../../settings_queries.ts'
import { waitingWords } from '../endpoint_state.ts'
import {
  type CreatedEndpoint,
  ENDPOINTS_PATH,
  type Endpoint,
  endpointPath,
  forgetEndpoint,
  refreshWebhooks,
} from '../webhook_queries.ts'
import { changeBody, createBody, draftOf, type EndpointDraft, emptyDraft, formProblem } from './draft.ts'
import { EndpointFields } from './endpoint_fields.tsx'

type FormDialogProps = {
  title: string
  verb: string
  initial: EndpointDraft
  isNew: boolean
  header_names: readonly string[]
  submit: (draft: EndpointDraft) => Promise<void>
  onClose: () => void
}

/** Scrolls to the first invalid field, which may be far above the button, and focuses it. */
function showFirstFault(form: HTMLFormElement | null): void {
  const first = form?.querySelector<HTMLElement>('[aria-invalid="true"], .field-error')
  first?.scrollIntoView({ block: 'center' })
  first?.focus({ preventScroll: true })
}

function FormDialog({
  title,
  verb,
  initial,
  isNew,
  header_names,
  submit,
  onClose,
}: FormDialogProps): JSX.Element {
  const [draft, setDraft] = useState(initial)
  const { run, isBusy, failure } = useMutation(() => submit(draft))
  const problem = formProblem(failure)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => showFirstFault(form.current), [failure])
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <EndpointFields
          draft={draft}
          change={(changes) => setDraft((before) => ({ ...before, ...changes }))}
          problem={problem}
          isNew={isNew}
          header_names={header_names}
        />
        <ErrorMessage message={problem.other} />
        <button type="submit" class="button main" disabled={isBusy || draft.types?.length === 0}>
          {verb}
        </button>
      </form>
    </Dialog>
  )
}

type AddEndpointProps = { onCreated: (created: CreatedEndpoint) => void; onClose: () => void }
export function AddEndpoint({ onCreated, onClose }: AddEndpointProps): JSX.Element {
  const withReauth = useReauth()
  const organizations = useSettings().data?.organizations ?? []
  return (
    <FormDialog
      title="Add endpoint"
      verb="Add endpoint"
      initial={emptyDraft(organizations[0]?.id ?? null)}
      isNew
      header_names={[]}
      submit={async (draft) => {
        const body = createBody(draft)
        const created = await withReauth(() => write<CreatedEndpoint>('POST', ENDPOINTS_PATH, body))
        await refreshWebhooks()
        onCreated(created)
      }}
      onClose={onClose}
    />
  )
}

type EndpointDialogProps = { endpoint: Endpoint; onClose: () => void }
export function EditEndpoint({ endpoint, onClose }: EndpointDialogProps): JSX.Element {
  const withReauth = useReauth()
  const [initial] = useState(() => draftOf(endpoint))
  return (
    <FormDialog
      title={`Edit “${endpoint.name}”`}
      verb="Save"
      initial={initial}
      isNew={false}
      header_names={endpoint.header_names}
      submit={async (draft) => {
        const body = changeBody(draft, initial)
        await withReauth(() => write<Endpoint>('PATCH', endpointPath(endpoint.id), body))
        await refreshWebhooks()
        onClose()
      }}
      onClose={onClose}
    />
  )
}

export function DeleteEndpoint({ endpoint, onClose }: EndpointDialogProps): JSX.Element {
  const { href } = useScope()
  const { route } = useLocation()
  return (
    <Confirm
      title={`Delete “${endpoint.name}”`}
      verb="Delete"
      onClose={onClose}
      action={async () => {
        await write('DELETE', endpointPath(endpoint.id))
        forgetEndpoint(endpoint.id)
        route(href('/settings/webhooks'))
      }}
    >
      <p>
        {endpoint.health.waiting === 0
          ? 'Nothing waits for it.'
          : `${waitingWords(endpoint)} wait and will never be sent.`}{' '}
        Its secret is deleted. The delivery log is kept. This cannot be undone.
      </p>
    </Confirm>
  )
}
