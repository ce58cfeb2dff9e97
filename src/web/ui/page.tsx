/** Which view an address means, and whether one must sign in first. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { VIEWS } from '../views.ts'
import { viewAt } from './addresses.ts'
import { client, renew, useAnswer } from './answers.ts'
import { Frame } from './frame/frame.tsx'
import { SIGNED_OUT } from './http.ts'
import { Empty, Failed } from './parts/states.tsx'
import { type Session, SessionContext } from './session.ts'
import { FreshDoor } from './sign_in/fresh.tsx'
import { Inwards, isDoor, SignIn } from './sign_in/sign_in.tsx'
import { COMPONENTS } from './views.ts'

/** Whether an address is none of ours, whoever looks. */
const isNowhere = (path: string): boolean => viewAt(path) === undefined

const Nowhere = (): JSX.Element => (
  <main class="page" id="content">
    <h1 class="spoken">Nothing here</h1>
    <Empty icon="question" title="There is nothing at this address">
      <a class="button" href="/">
        To today
      </a>
    </Empty>
  </main>
)

const Views = ({ isGuest }: { isGuest: boolean }): JSX.Element => (
  <Router>
    {VIEWS.filter(({ isForGuests }) => isForGuests || !isGuest).map(({ path, view }) => (
      <Route key={path} path={path} component={view === 'sign_in' ? Inwards : COMPONENTS[view]} />
    ))}
    <Route default component={Nowhere} />
  </Router>
)

function Broken({ error, again }: { error: Error; again: () => void }): JSX.Element {
  return (
    <main class="page" id="content">
      <Empty icon="warning" title="This view broke">
        <p>{error.message}</p>
        <button type="button" class="button" onClick={again}>
          Draw it again
        </button>
      </Empty>
    </main>
  )
}

/** Looks who it is whenever the server knows the caller no more; what was seen is forgotten then. */
function useComingAndGoing(session: Session | undefined): boolean {
  const wasIn = useRef(false)
  const isIn = session?.state === 'owner' || session?.state === 'guest'
  useEffect(() => {
    const look = (): void => void renew('/api/v1/session')
    window.addEventListener(SIGNED_OUT, look)
    return () => window.removeEventListener(SIGNED_OUT, look)
  }, [])
  useEffect(() => {
    if (wasIn.current && !isIn)
      client.removeQueries({ predicate: ({ queryKey: [path] }) => path !== '/api/v1/session' })
    if (isIn) wasIn.current = true
  }, [isIn])
  return wasIn.current && !isIn
}

/** Remembered by the browser, because the server forgets the sessions of a link that is over. */
function useGuesthood(session: Session | undefined): boolean {
  const state = session?.state
  useEffect(() => {
    if (state === 'guest') localStorage.setItem('guest', 'yes')
    if (state === 'owner') localStorage.removeItem('guest')
  }, [state])
  return localStorage.getItem('guest') !== null
}

function Gate(): JSX.Element | null {
  const { path } = useLocation()
  const session = useAnswer<Session>('/api/v1/session')
  const isOver = useComingAndGoing(session.data)
  const wasGuest = useGuesthood(session.data)
  const [broken, setBroken] = useState<Error | null>(null)
  const { data, problem, again } = session
  if (!data)
    return problem ? (
      <main class="alone">
        <Failed problem={problem} again={again} />
      </main>
    ) : null
  const isOut = data.state === 'setup' || data.state === 'signed_out'
  if (isOut && isNowhere(path)) return <Nowhere />
  if (isOut || isDoor(path)) return <SignIn session={data} isOver={isOver} wasGuest={wasGuest} />
  return (
    <SessionContext.Provider value={data}>
      <FreshDoor>
        <Frame>
          {broken ? (
            <Broken error={broken} again={() => setBroken(null)} />
          ) : (
            <ErrorBoundary onError={setBroken}>
              <Views isGuest={data.state === 'guest'} />
            </ErrorBoundary>
          )}
        </Frame>
      </FreshDoor>
    </SessionContext.Provider>
  )
}

export const Page = (): JSX.Element => (
  <LocationProvider>
    <Gate />
  </LocationProvider>
)
