/** The password once more, for what must not be done by whoever finds the page open. */
import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'
import { Problem, write } from '../http.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Session } from '../session.ts'
import { Entering } from './entering.tsx'
import { PasswordField } from './password.tsx'

type Fresh = <Answer>(deed: () => Promise<Answer>) => Promise<Answer>
const FreshContext = createContext<Fresh>((deed) => deed())

/** Does something that may want the password first: where it does, it is asked for, and the deed repeated. */
export const useFresh = (): Fresh => useContext(FreshContext)

type Asking = { resolve: () => void; reject: (problem: Problem) => void }

function Again({ asking, done }: { asking: Asking; done: () => void }): JSX.Element {
  const [password, setPassword] = useState('')
  const confirm = async (): Promise<void> => {
    await write<Session>('POST', '/api/v1/reauth', { password })
    asking.resolve()
    done()
  }
  const leave = (): void => {
    asking.reject(new Problem(0, 'not_confirmed', 'Nothing was done: the password was not entered.'))
    done()
  }
  return (
    <Dialog title="Enter your password" onClose={leave}>
      <Entering verb="Go on" deed={confirm}>
        <p class="small quiet">
          What is secret is made and changed only by who knows the password. It then holds for a quarter of an
          hour.
        </p>
        <PasswordField label="Password" value={password} onInput={setPassword} isFirst />
      </Entering>
    </Dialog>
  )
}

/** Around everything that may ask. */
export function FreshDoor({ children }: { children: ComponentChildren }): JSX.Element {
  const [asking, ask] = useState<Asking | null>(null)
  const fresh = useCallback<Fresh>(async (deed) => {
    try {
      return await deed()
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'reauthentication_required') throw error
      await new Promise<void>((resolve, reject) => ask({ resolve, reject }))
      return deed()
    }
  }, [])
  return (
    <FreshContext.Provider value={fresh}>
      {children}
      {asking && <Again asking={asking} done={() => ask(null)} />}
    </FreshContext.Provider>
  )
}
