/** A list of grants (share links or tokens) with dialogs to create and revoke them. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../http.ts'
import { useNow } from '../../now.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Icon, type IconName } from '../../parts/icons.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { TableHead } from '../../parts/table_head.tsx'
import { invalidate, type QueryResult } from '../../queries.ts'
import { useReauth } from '../../sign_in/reauth.tsx'
import { count } from '../../words.ts'
import {
  EMPTY_GRANT,
  Expiry,
  type GrantDraft,
  GrantedApps,
  GrantFields,
  grantRequest,
  isInactive,
} from './grant_form.tsx'
import { ShownOnce } from './shown_once.tsx'

export type Credential = {
  id: string
  label: string
  apps: string[] | null
  created_at: number
  expires_at: number | null
  revoked_at: number | null
}

/** The texts and columns of one kind of grant. */
export type CredentialKind<One extends Credential> = {
  path: string
  title: string
  createLabel: string
  /** The button of the form. */
  submitLabel: string
  /** Placeholder of the name field. */
  hint: string
  icon: IconName
  about: string
  empty: string
  revokeText: string
  /** The secret of a new grant. */
  secretOf: (created: One) => string
  secretTitle: string
  secretNote: string
  /** An additional column. */
  column: { title: string; of: (one: One) => ComponentChildren }
  used: { title: string; at: (one: One) => number | null }
  /** Additional form fields, and what they add to the request. */
  useFields: () => { fields: ComponentChildren; body: object; isReady: boolean }
}

type CreateDialogProps<One extends Credential> = {
  kind: CredentialKind<One>
  onCreated: (created: One) => void
  onClose: () => void
}

function CreateDialog<One extends Credential>({
  kind,
  onCreated,
  onClose,
}: CreateDialogProps<One>): JSX.Element {
  const withReauth = useReauth()
  const { fields, body, isReady } = kind.useFields()
  const [grant, setGrant] = useState<GrantDraft>(EMPTY_GRANT)
  const { run, isBusy, problem } = useMutation(async () => {
    const created = await withReauth(() => write<One>('POST', kind.path, { ...grantRequest(grant), ...body }))
    await invalidate(kind.path)
    onCreated(created)
  })
  return (
    <Dialog title={kind.createLabel} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <GrantFields
          grant={grant}
          change={(changes) => setGrant({ ...grant, ...changes })}
          hint={kind.hint}
        />
        {fields}
        <ErrorMessage message={problem} />
        <button type="submit" class="button main" disabled={isBusy || !isReady}>
          {kind.submitLabel}
        </button>
      </form>
    </Dialog>
  )
}

type CredentialTableProps<One extends Credential> = {
  kind: CredentialKind<One>
  all: One[]
  onRevoke: (one: One) => void
}

function CredentialTable<One extends Credential>({
  kind,
  all,
  onRevoke,
}: CredentialTableProps<One>): JSX.Element {
  const now = useNow()
  return (
    <Scroll label={kind.title}>
      <table class="table row-cards level">
        <TableHead
          headings={[
            { title: 'Name' },
            { title: 'Apps' },
            { title: kind.column.title },
            { title: 'Expires' },
            { title: kind.used.title },
            { title: <span class="spoken">Revoke</span> },
          ]}
        />
        <tbody>
          {all.map((one) => (
            <tr key={one.id} class={isInactive(one, now) ? 'is-over' : ''}>
              <th scope="row">
                <strong class="ink">{one.label}</strong>
                <div class="tiny quiet">
                  created <RelativeTime at={one.created_at} />
                </div>
              </th>
              <td data-title="Apps">
                <GrantedApps apps={one.apps} />
              </td>
              <td data-title={kind.column.title}>{kind.column.of(one)}</td>
              <td class="nowrap" data-title="Expires">
                <Expiry grant={one} now={now} />
              </td>
              <td class="nowrap" data-title={kind.used.title}>
                <RelativeTime at={kind.used.at(one)} never="Never" />
              </td>
              <td class="number">
                {!isInactive(one, now) && (
                  <button type="button" class="button plain danger" onClick={() => onRevoke(one)}>
                    Revoke<span class="spoken"> {one.label}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

type CredentialListProps<One extends Credential> = { kind: CredentialKind<One>; result: QueryResult<One[]> }

/** Creates a grant, then shows its secret once. */
export function CreateCredential<One extends Credential>({
  kind,
  onClose,
}: {
  kind: CredentialKind<One>
  onClose: () => void
}): JSX.Element {
  const [created, setCreated] = useState<One | null>(null)
  if (created === null) return <CreateDialog kind={kind} onClose={onClose} onCreated={setCreated} />
  return (
    <ShownOnce
      title={kind.secretTitle}
      text={kind.secretOf(created)}
      label={kind.secretTitle}
      note={kind.secretNote}
      onClose={onClose}
    />
  )
}

export function CredentialList<One extends Credential>({
  kind,
  result,
}: CredentialListProps<One>): JSX.Element {
  const [isCreating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<One | null>(null)
  const [isExpanded, setExpanded] = useState(false)
  const now = useNow()
  return (
    <Card
      title={kind.title}
      tools={
        <button type="button" class="button" onClick={() => setCreating(true)}>
          <Icon name="plus" /> {kind.createLabel}
        </button>
      }
    >
      <p class="small quiet">{kind.about}</p>
      <QueryView result={result} height={160}>
        {(all) => {
          const shown = isExpanded ? all : all.filter((one) => !isInactive(one, now))
          return (
            <>
              {shown.length === 0 && <Empty icon={kind.icon} title={kind.empty} />}
              {shown.length > 0 && <CredentialTable kind={kind} all={shown} onRevoke={setRevoking} />}
              {shown.length < all.length && (
                <button type="button" class="button plain" onClick={() => setExpanded(true)}>
                  Show {count(all.length - shown.length)} inactive
                </button>
              )}
            </>
          )
        }}
      </QueryView>
      {isCreating && <CreateCredential kind={kind} onClose={() => setCreating(false)} />}
      {revoking && (
        <Confirm
          title={`Revoke “${revoking.label}”`}
          verb="Revoke"
          onClose={() => setRevoking(null)}
          action={async () => {
            await write('DELETE', `${kind.path}/${revoking.id}`)
            await invalidate(kind.path)
          }}
        >
          <p>{kind.revokeText}</p>
        </Confirm>
      )}
    </Card>
  )
}
