/** The dialogs that add, change and remove a channel. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../../http.ts'
import { Confirm, Dialog, useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { TextField } from '../../../parts/text_field.tsx'
import { useReauth } from '../../../sign_in/reauth.tsx'
import { OrganizationPick } from '../../organization_pick.tsx'
import { useSettings } from '../../settings_queries.ts'
import { CHANNELS_PATH, type Channel, channelPath, refreshAlerts, useChannels } from '../alert_queries.ts'
import { storedHash } from '../devices/stored_hash.ts'
import { endSubscription } from '../devices/subscription.ts'
import {
  type ChannelDraft,
  changeBody,
  createBody,
  draftOf,
  emptyDraft,
  formProblem,
  keyOf,
} from './channel_draft.ts'
import { KIND_FORMS, type KindForm, kindTitle } from './channel_kinds.ts'

const DIGESTS = [
  { value: 'daily', title: 'Daily digest' },
  { value: 'weekly', title: 'Weekly digest' },
] as const

type FieldsProps = {
  form: KindForm
  draft: ChannelDraft
  errors: Record<string, string>
  isNew: boolean
  change: (changes: Partial<ChannelDraft>) => void
}

function ChannelFields({ form, draft, errors, isNew, change }: FieldsProps): JSX.Element {
  const toggle = (digest: string): void =>
    change({
      digests: draft.digests.includes(digest)
        ? draft.digests.filter((one) => one !== digest)
        : [...draft.digests, digest],
    })
  return (
    <>
      <p class="small quiet">{form.steps}</p>
      {form.fields.map((field) => (
        <TextField
          key={keyOf(field)}
          label={field.label}
          value={draft.values[keyOf(field)] ?? ''}
          hint={field.where === 'secrets' && !isNew ? 'Stored; enter it again to change it' : field.hint}
          error={errors[keyOf(field)]}
          type={field.where === 'secrets' && field.name !== 'url' ? 'password' : 'text'}
          isRequired={field.isRequired && (isNew || field.where === 'settings')}
          onInput={(text) => change({ values: { ...draft.values, [keyOf(field)]: text } })}
        />
      ))}
      <TextField
        label="Name"
        value={draft.name}
        hint="My phone"
        error={errors.name}
        isRequired
        onInput={(name) => change({ name })}
      />
      {isNew && (
        <OrganizationPick
          value={draft.organization_id}
          onPick={(organization_id) => change({ organization_id })}
        />
      )}
      <fieldset class="plain-set choices">
        <legend class="small">Also</legend>
        {DIGESTS.map(({ value, title }) => (
          <label key={value}>
            <input type="checkbox" checked={draft.digests.includes(value)} onClick={() => toggle(value)} />
            {title}
          </label>
        ))}
        <label>
          <input
            type="checkbox"
            checked={draft.hides_amounts}
            onClick={() => change({ hides_amounts: !draft.hides_amounts })}
          />
          Hide amounts
        </label>
      </fieldset>
    </>
  )
}

type FormProps = {
  form: KindForm
  initial: ChannelDraft
  verb: string
  isNew: boolean
  submit: (draft: ChannelDraft) => Promise<void>
}

function ChannelForm({ form, initial, verb, isNew, submit }: FormProps): JSX.Element {
  const [draft, setDraft] = useState(initial)
  const { run, isBusy, failure } = useMutation(() => submit(draft))
  const { fields, other } = formProblem(failure, form)
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <ChannelFields
        form={form}
        draft={draft}
        errors={fields}
        isNew={isNew}
        change={(changes) => setDraft((before) => ({ ...before, ...changes }))}
      />
      <ErrorMessage message={other} />
      <button type="submit" class="button main" disabled={isBusy}>
        {verb}
      </button>
    </form>
  )
}

const KindList = ({ onPick }: { onPick: (form: KindForm) => void }): JSX.Element => (
  <ul class="kinds plain-list">
    {KIND_FORMS.map((form) => (
      <li key={form.kind}>
        <button type="button" class="kind" onClick={() => onPick(form)}>
          <strong>{form.title}</strong>
          <span class="small quiet">{form.about}</span>
        </button>
      </li>
    ))}
  </ul>
)

type AddProps = { onAdded: (channel: Channel) => void; onClose: () => void }
/** Asks for the kind, then for its fields. */
export function AddChannel({ onAdded, onClose }: AddProps): JSX.Element {
  const withReauth = useReauth()
  const organizations = useSettings().data?.organizations ?? []
  const [form, setForm] = useState<KindForm | null>(null)
  if (form === null)
    return (
      <Dialog title="Add channel" onClose={onClose}>
        <KindList onPick={setForm} />
      </Dialog>
    )
  return (
    <Dialog title={`Add ${form.title}`} onClose={onClose}>
      <ChannelForm
        form={form}
        initial={emptyDraft(form, organizations[0]?.id ?? null)}
        verb="Add and send a test"
        isNew
        submit={async (draft) => {
          const body = createBody(form, draft)
          const channel = await withReauth(() => write<Channel>('POST', CHANNELS_PATH, body))
          await refreshAlerts()
          onAdded(channel)
        }}
      />
    </Dialog>
  )
}

type ChannelProps = { channel: Channel; onClose: () => void }
export function EditChannel({ channel, onClose }: ChannelProps): JSX.Element {
  const withReauth = useReauth()
  const form = KIND_FORMS.find(({ kind }) => kind === channel.kind) ?? {
    kind: channel.kind,
    title: kindTitle(channel.kind),
    about: '',
    steps: '',
    fields: [],
  }
  return (
    <Dialog title={`Edit “${channel.name}”`} onClose={onClose}>
      <ChannelForm
        form={form}
        initial={draftOf(channel)}
        verb="Save"
        isNew={false}
        submit={async (draft) => {
          const body = changeBody(form, draft)
          await withReauth(() => write<Channel>('PATCH', channelPath(channel.id), body))
          await refreshAlerts()
          onClose()
        }}
      />
    </Dialog>
  )
}

export function RemoveChannel({ channel, onClose }: ChannelProps): JSX.Element {
  const channels = useChannels().data?.channels ?? []
  const hash = storedHash()
  /** A browser has one subscription for its devices in all organizations. */
  const isLast =
    channel.settings.endpoint_hash === hash &&
    channels.every(({ id, settings }) => id === channel.id || settings.endpoint_hash !== hash)
  return (
    <Confirm
      title={`Remove “${channel.name}”`}
      verb="Remove"
      onClose={onClose}
      action={async () => {
        await write('DELETE', channelPath(channel.id))
        if (isLast) await endSubscription()
        await refreshAlerts()
      }}
    >
      <p>Nothing more is sent to it, and its secrets are deleted. Its messages stay in the history.</p>
    </Confirm>
  )
}
