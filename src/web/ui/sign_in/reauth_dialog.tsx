/** The dialog that asks for the password again, and for a code if an authenticator app is set up. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../http.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Session } from '../session.ts'
import { CodeStep, orAskForCode } from './code_step.tsx'
import { PasswordField } from './password.tsx'
import { SignInForm } from './sign_in_form.tsx'

type ReauthDialogProps = { onConfirmed: () => void; onClose: () => void }

export function ReauthDialog({ onConfirmed, onClose }: ReauthDialogProps): JSX.Element {
  const [password, setPassword] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const confirm = async (code?: string): Promise<void> => {
    await write<Session>('POST', '/api/v1/reauth', { password, ...(code && { code }) })
    onConfirmed()
  }
  if (needsCode)
    return (
      <Dialog title="Enter a code" onClose={onClose}>
        <CodeStep verb="Continue" send={confirm} onBack={() => setNeedsCode(false)} />
      </Dialog>
    )
  return (
    <Dialog title="Enter your password" onClose={onClose}>
      <SignInForm verb="Continue" action={() => orAskForCode(confirm(), () => setNeedsCode(true))}>
        <p class="small quiet">
          Creating or changing secrets requires your password. You are then not asked again for 15 minutes.
        </p>
        <PasswordField label="Password" value={password} onInput={setPassword} isFirst />
      </SignInForm>
    </Dialog>
  )
}
