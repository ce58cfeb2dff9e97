/** Prompts for the password again before sensitive actions. */
import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'
import { Problem } from '../http.ts'
import { lateDialog } from '../loading/late.tsx'

type WithReauth = <Answer>(action: () => Promise<Answer>) => Promise<Answer>
const ReauthContext = createContext<WithReauth>((action) => action())

/**
 * Returns a function that runs an action. If the server requires reauthentication, it prompts for the password and
 * repeats the action.
 */
export const useReauth = (): WithReauth => useContext(ReauthContext)

type ReauthRequest = { resolve: () => void; reject: (problem: Problem) => void }

const ReauthDialog = lateDialog('Enter your password', () =>
  import('./reauth_dialog.tsx').then((module) => module.ReauthDialog),
)

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
  const confirm = (): void => {
    request?.resolve()
    setRequest(null)
  }
  const cancel = (): void => {
    request?.reject(new Problem(0, 'not_confirmed', 'Canceled: the password was not entered.'))
    setRequest(null)
  }
  return (
    <ReauthContext.Provider value={withReauth}>
      {children}
      {request && <ReauthDialog onConfirmed={confirm} onClose={cancel} />}
    </ReauthContext.Provider>
  )
}
