/** Settings, Security: passkeys, which sign in without password and code. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { PasskeysAnswer } from '../../../../api/owner/passkeys.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { Icon } from '../../parts/icons.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { invalidate, useQuery } from '../../queries.ts'
import { createPasskey, knowsPasskeys } from '../../sign_in/passkey.ts'
import { useReauth } from '../../sign_in/reauth.tsx'
import { browserName } from './browsers.ts'

type Answer = InferOutput<typeof PasskeysAnswer>
type Passkey = Answer['passkeys'][number]
const PATH = '/api/v1/passkeys'

/** The answers of the security page change with the passkeys. */
const refresh = (): Promise<void> => invalidate(PATH, '/api/v1/sessions', '/api/v1/session', '/api/v1/audit')

function Row({
  passkey,
  host,
  onRemove,
}: {
  passkey: Passkey
  host: string
  onRemove: () => void
}): JSX.Element {
  const { name, is_synced, created_at, used_at } = passkey
  return (
    <li class="spread">
      <div class="stack-s small">
        <span class="row">
          <strong>{name}</strong>
          {is_synced && <span class="badge">Synced</span>}
          {passkey.host !== host && <span class="badge warn">For {passkey.host} only</span>}
        </span>
        <span class="quiet">
          {used_at === null ? (
            'never used'
          ) : (
            <>
              last used <RelativeTime at={used_at} />
            </>
          )}
          , added <RelativeTime at={created_at} />
        </span>
      </div>
      <button type="button" class="button" onClick={onRemove}>
        Remove<span class="spoken"> {name}</span>
      </button>
    </li>
  )
}

function AddDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const withReauth = useReauth()
  const [name, setName] = useState(browserName(navigator.userAgent))
  const { run, isBusy, problem } = useMutation(async () => {
    const options = await withReauth(() =>
      write<Parameters<typeof createPasskey>[0]>('POST', `${PATH}/setup`),
    )
    const passkey = await createPasskey(options)
    await withReauth(() => write('POST', PATH, { name, passkey }))
    await refresh()
    onClose()
  })
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <label class="field">
          <span>Name</span>
          <input
            class="input"
            autocomplete="off"
            required
            maxLength={60}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <p class="tiny quiet">
          Your browser then asks where to keep the passkey. All other browsers are signed out.
        </p>
        <ErrorMessage message={problem} />
        <div class="sheet-foot">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={isBusy}>
            Continue
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function RemoveDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }): JSX.Element {
  const withReauth = useReauth()
  return (
    <Confirm
      title={`Remove “${passkey.name}”`}
      verb="Remove"
      onClose={onClose}
      action={async () => {
        await withReauth(() => write('DELETE', `${PATH}/${passkey.id}`))
        await refresh()
      }}
    >
      <p>
        The passkey no longer signs in, and all other browsers are signed out. Delete it on the device, too.
      </p>
    </Confirm>
  )
}

/** Why no passkey can be added here; null if one can. */
function problemOf({ problem, host }: Answer): string | null {
  if (problem !== null) return problem
  if (!knowsPasskeys()) return 'This browser does not know passkeys.'
  if (host === location.hostname) return null
  return `Passkeys work at the address that base_url names. Open Windfall at ${host} to add one.`
}

export function PasskeyCard(): JSX.Element {
  const result = useQuery<Answer>(PATH)
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Passkey | null>(null)
  const problem = result.data ? problemOf(result.data) : null
  return (
    <Card
      title="Passkeys"
      tools={
        <button
          type="button"
          class="button"
          disabled={result.data === undefined || problem !== null}
          onClick={() => setAdding(true)}
        >
          <Icon name="plus" /> Add a passkey
        </button>
      }
    >
      <QueryView result={result} height={80}>
        {({ passkeys, host }) => (
          <div class="stack">
            <p class="small quiet">
              A passkey signs in with your fingerprint, face or PIN, without password and code. The password
              keeps working.
            </p>
            {problem !== null && <p class="notice">{problem}</p>}
            {passkeys.length > 0 && (
              <ul class="rows">
                {passkeys.map((passkey) => (
                  <Row key={passkey.id} passkey={passkey} host={host} onRemove={() => setRemoving(passkey)} />
                ))}
              </ul>
            )}
          </div>
        )}
      </QueryView>
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
      {removing && <RemoveDialog passkey={removing} onClose={() => setRemoving(null)} />}
    </Card>
  )
}
