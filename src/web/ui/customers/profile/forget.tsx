/** The button and dialog that erase a user. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressOf, write } from '../../http.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { invalidate } from '../../queries.ts'
import { useReauth } from '../../sign_in/reauth.tsx'

type Props = { app_id: string; app_user_id: string }

export function ForgetButton(props: Props): JSX.Element {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <button type="button" class="button danger" onClick={() => setConfirming(true)}>
        <Icon name="trash" /> Erase
      </button>
      {isConfirming && <Forget {...props} onClose={() => setConfirming(false)} />}
    </>
  )
}

function Forget({ app_id, app_user_id, onClose }: Props & { onClose: () => void }): JSX.Element {
  const { route, path } = useLocation()
  const withReauth = useReauth()
  return (
    <Confirm
      title="Erase this user"
      verb="Erase permanently"
      onClose={onClose}
      action={async () => {
        const address = `/api/v1/users/${encodeURIComponent(app_user_id)}`
        await withReauth(() => write('DELETE', addressOf(address, { app: app_id })))
        await invalidate('/api/v1/customers', '/api/v1/users', '/api/v1/events')
        if (path.startsWith('/users/')) route('/customers', true)
      }}
    >
      <p>
        <strong class="identity-name">{app_user_id}</strong>
      </p>
      <dl class="stack-s">
        <dt>
          <strong>Removed</strong>
        </dt>
        <dd>
          Attributes, device and all links. Purchases become unlinked, or belong to the verified user. Events
          that name this user are rewritten.
        </dd>
        <dt>
          <strong>Kept</strong>
        </dt>
        <dd>Transactions, revenue and metrics. Apple’s data does not name the user.</dd>
        <dt>
          <strong>Not covered</strong>
        </dt>
        <dd>
          Existing backups, copies of the disk, your proxy’s logs, and every client that read the feed. After
          you restore a backup, erase the user again.
        </dd>
      </dl>
      <p>Later calls for this id are refused. This cannot be undone.</p>
    </Confirm>
  )
}
