/** The dialog that asks for the password again. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../http.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Session } from '../session.ts'
import { PasswordField } from './password.tsx'
import { SignInForm } from './sign_in_form.tsx'

type ReauthDialogProps = { onConfirmed: () => void; onClose: () => void }

export function ReauthDialog({ onConfirmed, onClose }: ReauthDialogProps): JSX.Element {
  const [password, setPassword] = useState('')
  const confirm = async (): Promise<void> => {
    await write<Session>('POST', '/api/v1/reauth', { password })
    onConfirmed()
  }
  return (
    <Dialog title="Enter your password" onClose={onClose}>
      <SignInForm verb="Continue" action={confirm}>
        <p class="small quiet">
          Creating or changing secrets requires your password. You are then not asked again for 15 minutes.
        </p>
        <PasswordField label="Password" value={password} onInput={setPassword} isFirst />
      </SignInForm>
    </Dialog>
  )
}
