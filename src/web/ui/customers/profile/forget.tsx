/** The button and dialog that erase a user. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { InferOutput } from 'valibot'
import type { ErasureAnswer } from '../../../../api/customers/erasures.ts'
import { addressOf, write } from '../../http.ts'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { invalidate } from '../../queries.ts'
import { useReauth } from '../../sign_in/reauth.tsx'
import { instant, plural } from '../../words.ts'

type Erasure = InferOutput<typeof ErasureAnswer>
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
  const withReauth = useReauth()
  const [erasure, setErasure] = useState<Erasure | null>(null)
  if (erasure) return <Erased erasure={erasure} onClose={onClose} />
  return (
    <Confirm
      title="Erase this user"
      verb="Erase permanently"
      onClose={onClose}
      isClosedAfter={false}
      action={async () => {
        const address = `/api/v1/users/${encodeURIComponent(app_user_id)}`
        setErasure(await withReauth(() => write<Erasure>('DELETE', addressOf(address, { app: app_id }))))
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

/** Tells what an erasure removed. The views behind are read again when this is closed, because they unmount it. */
function Erased({ erasure, onClose }: { erasure: Erasure; onClose: () => void }): JSX.Element {
  const { route, path } = useLocation()
  const { asked_at, links, scrubbed, state } = erasure
  const close = (): void => {
    onClose()
    void invalidate('/api/v1/customers', '/api/v1/users', '/api/v1/events')
    if (path.startsWith('/users/')) route('/customers', true)
  }
  return (
    <Dialog title="User erased" onClose={close}>
      <div class="stack small" role="status">
        <p>
          Erased on {instant(asked_at)}: attributes, device and {plural(links, 'link')} to purchases. Later
          calls for this id are refused.
        </p>
        <p>
          {state === 'running'
            ? 'Events that name the user are now rewritten in the background.'
            : `${plural(scrubbed, 'event')} that named the user ${scrubbed === 1 ? 'is' : 'are'} rewritten.`}
        </p>
        <p class="quiet">
          Erasure <code>{erasure.id}</code>, for your records.
        </p>
      </div>
      <div class="sheet-foot">
        <button type="button" class="button main" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
