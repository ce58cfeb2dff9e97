/** The list of SDK keys with dialogs to create, rotate and revoke them. */
import type { JSX } from 'preact'
import { type Dispatch, type StateUpdater, useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { KeyAnswer, RotatedAnswer } from '../../../../api/owner/keys.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Confirm, Dialog, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Segments } from '../../parts/popover.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { invalidate, type QueryResult, useQuery } from '../../queries.ts'
import { useReauth } from '../../sign_in/reauth.tsx'
import { instant } from '../../words.ts'
import { LabelField } from '../label_field.tsx'
import { OrganizationPick } from '../organization_pick.tsx'
import { organizationName, useSettings } from '../settings_queries.ts'
import { OverlapField } from './overlap_field.tsx'
import { ShownOnce } from './shown_once.tsx'

export type Key = InferOutput<typeof KeyAnswer>
const PATH = '/api/v1/keys'
export const useKeys = (): QueryResult<{ keys: Key[] }> => useQuery<{ keys: Key[] }>(PATH)

const KINDS = [
  { value: 'publishable', title: 'Publishable' },
  { value: 'secret', title: 'Secret' },
] as const
const ABOUT: Record<Key['kind'], string> = {
  publishable:
    'For apps. It can identify users and link purchases but cannot read data. Ship it in your app.',
  secret: 'For your backend. Its calls count as proved. Never ship it in an app.',
}

type CreateKeyDialogProps = { onCreated: (key: Key) => void; onClose: () => void }

function CreateKeyDialog({ onCreated, onClose }: CreateKeyDialogProps): JSX.Element {
  const withReauth = useReauth()
  const organizations = useSettings().data?.organizations ?? []
  const [kind, setKind] = useState<Key['kind']>('publishable')
  const [label, setLabel] = useState('')
  const [organization_id, setOrganization] = useState(organizations[0]?.id)
  const { run, isBusy, problem } = useMutation(async () => {
    const key = await withReauth(() =>
      write<Key>('POST', PATH, { kind, label, ...(organization_id && { organization_id }) }),
    )
    await invalidate(PATH)
    onCreated(key)
  })
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <Segments title="Kind" value={kind} choices={KINDS} onPick={setKind} />
        <p class="small quiet">{ABOUT[kind]}</p>
        <LabelField value={label} hint={kind === 'secret' ? 'Backend' : 'iOS app'} onChange={setLabel} />
        <OrganizationPick value={organization_id ?? null} onPick={setOrganization} />
        <ErrorMessage message={problem} />
        <button type="submit" class="button main" disabled={isBusy}>
          Create key
        </button>
      </form>
    </Dialog>
  )
}

const OVERLAPS = [
  { hours: 0, title: 'Immediately' },
  { hours: 24, title: 'After 1 day' },
  { hours: 168, title: 'After 7 days' },
  { hours: 720, title: 'After 30 days' },
]

function Rotate({ replaced, onCreated, onClose }: CreateKeyDialogProps & { replaced: Key }): JSX.Element {
  const withReauth = useReauth()
  const [overlap_hours, setOverlap] = useState(168)
  return (
    <Confirm
      title={`Replace “${replaced.label}”`}
      verb="Create new key"
      isDanger={false}
      onClose={onClose}
      action={async () => {
        const created = await withReauth(() =>
          write<InferOutput<typeof RotatedAnswer>>('POST', `${PATH}/${replaced.id}/rotate`, {
            overlap_hours,
          }),
        )
        await invalidate(PATH)
        onCreated(created)
      }}
    >
      <p>
        A new key replaces this one. The old key keeps working for a while so that you can deploy the new one.
      </p>
      <OverlapField label="Old key expires" hours={overlap_hours} choices={OVERLAPS} onPick={setOverlap} />
    </Confirm>
  )
}

const Revoke = ({ replaced, onClose }: { replaced: Key; onClose: () => void }): JSX.Element => (
  <Confirm
    title={`Revoke “${replaced.label}”`}
    verb="Revoke"
    onClose={onClose}
    action={async () => {
      await write('DELETE', `${PATH}/${replaced.id}`)
      await invalidate(PATH)
    }}
  >
    <p>Calls with this key are refused from now on. This cannot be undone.</p>
  </Confirm>
)

type KeyAction = { what: 'make' } | { what: 'rotate' | 'revoke' | 'show'; key: Key }

function Dialogs({
  action,
  setAction,
}: {
  action: KeyAction | null
  setAction: Dispatch<StateUpdater<KeyAction | null>>
}) {
  const close = (): void => setAction(null)
  const show = (key: Key): void => setAction({ what: 'show', key })
  // Do not close the dialog that shows a key that was just created.
  const closeIfRotating = (): void => setAction((now) => (now?.what === 'rotate' ? null : now))
  if (action === null) return null
  if (action.what === 'make') return <CreateKeyDialog onCreated={show} onClose={close} />
  if (action.what === 'rotate')
    return <Rotate replaced={action.key} onCreated={show} onClose={closeIfRotating} />
  if (action.what === 'revoke') return <Revoke replaced={action.key} onClose={close} />
  const isSecret = action.key.kind === 'secret'
  return (
    <ShownOnce
      title={isSecret ? 'Your new secret key' : 'Your new key'}
      text={action.key.token ?? ''}
      label="the key"
      note={
        isSecret
          ? 'Copy it now: it is not shown again. Windfall stores only a hash of it.'
          : 'You can copy it from this page at any time.'
      }
      onClose={close}
    />
  )
}

function Row({ one, setAction }: { one: Key; setAction: (action: KeyAction) => void }): JSX.Element {
  const settings = useSettings().data
  const isEditable = one.source !== 'config'
  return (
    <li class="key">
      <div class="spread">
        <span class="row small">
          <strong class="cut">{one.label}</strong>
          <span class="badge">{one.kind === 'secret' ? 'Secret' : 'Publishable'}</span>
          {one.state === 'ending' && one.expires_at !== null && (
            <span class="badge warn" title={instant(one.expires_at)}>
              expires <RelativeTime at={one.expires_at} />
            </span>
          )}
          {(settings?.organizations.length ?? 0) > 1 && (
            <span class="quiet">{organizationName(settings, one.organization_id)}</span>
          )}
        </span>
        <span class="row">
          <span class="tiny quiet">
            created <RelativeTime at={one.created_at} />
          </span>
          {isEditable ? (
            <>
              <button
                type="button"
                class="button plain"
                onClick={() => setAction({ what: 'rotate', key: one })}
              >
                <Icon name="refresh" /> Replace<span class="spoken"> {one.label}</span>
              </button>
              <button
                type="button"
                class="button plain danger"
                onClick={() => setAction({ what: 'revoke', key: one })}
              >
                Revoke<span class="spoken"> {one.label}</span>
              </button>
            </>
          ) : (
            <span class="tiny quiet">defined in config.toml</span>
          )}
        </span>
      </div>
      {one.token ? (
        <Copy text={one.token} label={`the key ${one.label}`} />
      ) : (
        <code class="small quiet">sk_live_…{one.hint}</code>
      )}
    </li>
  )
}

export function Keys(): JSX.Element {
  const result = useKeys()
  const [action, setAction] = useState<KeyAction | null>(null)
  return (
    <Card
      title="Keys"
      tools={
        <button type="button" class="button" onClick={() => setAction({ what: 'make' })}>
          <Icon name="plus" /> New key
        </button>
      }
    >
      <QueryView result={result} height={140}>
        {({ keys }) => {
          const alive = keys.filter(({ state }) => state !== 'ended')
          const ended = keys.length - alive.length
          return (
            <>
              {alive.length === 0 && (
                <Empty icon="key" title="No keys yet">
                  <p>Apps can call without a key unless sdk_auth requires one.</p>
                </Empty>
              )}
              <ul class="rows">
                {alive.map((one) => (
                  <Row key={one.id} one={one} setAction={setAction} />
                ))}
              </ul>
              {ended > 0 && <p class="tiny quiet">{ended} expired or revoked</p>}
            </>
          )
        }}
      </QueryView>
      <Dialogs action={action} setAction={setAction} />
    </Card>
  )
}
