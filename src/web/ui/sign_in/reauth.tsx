/** Prompts for the password again before sensitive actions. */
import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'
import { Problem, write } from '../http.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Session } from '../session.ts'
import { PasswordField } from './password.tsx'
import { SignInForm } from './sign_in_form.tsx'

type WithReauth = <Answer>(action: () => Promise<Answer>) => Promise<Answer>
const ReauthContext = createContext<WithReauth>((action) => action())

/**
 * Returns a function that runs an action. If the server requires reauthentication, it prompts for the password and
 * repeats the action.
 */
export const useReauth = (): WithReauth => useContext(ReauthContext)

type ReauthRequest = { resolve: () => void; reject: (problem: Problem) => void }

function ReauthDialog({ request, onDone }: { request: ReauthRequest; onDone: () => void }): JSX.Element {
  const [password, setPassword] = useState('')
  const confirm = async (): Promise<void> => {
    await write<Session>('POST', '/api/v1/reauth', { password })
    request.resolve()
    onDone()
  }
  const cancel = (): void => {
    request.reject(new Problem(0, 'not_confirmed', 'Canceled: the password was not entered.'))
    onDone()
  }
  return (
    <Dialog title="Enter your password" onClose={cancel}>
      <SignInForm verb="Continue" action={confirm}>
        <p class="small quiet">
          Creating or changing secrets requires your password. You are then not asked again for 15 minutes.
        </p>
        <PasswordField label="Password" value={password} onInput={setPassword} isFirst />
      </SignInForm>
    </Dialog>
  )
}

/** Provides `useReauth` and its dialog. */
export function ReauthProvider({ children }: { children: ComponentChildren }): JSX.Element {
  const [request, setRequest] = useState<ReauthRequest | null>(null)
  const withReauth = useCallback<WithReauth>(async (action) => {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'reauthentication_required') throw error
      await new Promise<void>((resolve, reject) => setRequest({ resolve, reject }))
      return action()
    }
  }, [])
  return (
    <ReauthContext.Provider value={withReauth}>
      {children}
      {request && <ReauthDialog request={request} onDone={() => setRequest(null)} />}
    </ReauthContext.Provider>
  )
}
