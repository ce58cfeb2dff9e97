/** Signs in with a passkey. */
import type { JSX } from 'preact'
import { write } from '../http.ts'
import { useMutation } from '../parts/dialog.tsx'
import { ErrorMessage } from '../parts/error_message.tsx'
import { Icon } from '../parts/icons.tsx'
import type { Session } from '../session.ts'
import { knowsPasskeys, takePasskey } from './passkey.ts'

type PasskeyButtonProps = { host: Session['passkeys']; onSignedIn: (session: Session) => void }

/** @param props.host the host at which a passkey signs in; without it, or at another host, there is no button */
export function PasskeyButton({ host, onSignedIn }: PasskeyButtonProps): JSX.Element | null {
  const { run, isBusy, problem } = useMutation(async () => {
    const options = await write<Parameters<typeof takePasskey>[0]>('POST', '/api/v1/passkeys/challenge')
    const passkey = await takePasskey(options)
    onSignedIn(await write<Session>('POST', '/api/v1/login', { passkey }))
  })
  if (host !== location.hostname || !knowsPasskeys()) return null
  return (
    <div class="stack-s">
      <button type="button" class="button" disabled={isBusy} onClick={run}>
        <Icon name="key" /> {isBusy ? 'Please wait' : 'Sign in with a passkey'}
      </button>
      <ErrorMessage message={problem} />
    </div>
  )
}
