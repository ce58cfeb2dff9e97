/** The root component: routes, session check and error boundary. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { VIEWS } from '../views.ts'
import { hasView, viewAt } from './addresses.ts'
import { Frame } from './frame/frame.tsx'
import { SIGNED_OUT_EVENT } from './http.ts'
import { noteSession } from './loading/early_reads.ts'
import { Empty, Failed } from './parts/query_view.tsx'
import { Title } from './parts/title.tsx'
import { client, invalidate, useQuery } from './queries.ts'
import { type Session, SessionContext } from './session.ts'
import { isEntryPath, RedirectHome } from './sign_in/entry_paths.ts'
import { ReauthProvider } from './sign_in/reauth.tsx'
import { COMPONENTS, GUEST_COMPONENTS } from './views.ts'

/** Whether no view has this path. */
const isUnknownPath = (path: string): boolean => viewAt(path) === undefined

const NotFound = (): JSX.Element => (
  <main class="page" id="content">
    <Title class="spoken">Not found</Title>
    <Empty icon="question" title="This page does not exist">
      <a class="button" href="/">
        Go to dashboard
      </a>
    </Empty>
  </main>
)

function componentOf(view: (typeof VIEWS)[number]['view'], { state, metrics }: Session) {
  if (view === 'sign_in') return RedirectHome
  if (view !== 'today' || state !== 'guest') return COMPONENTS[view]
  return metrics === null ? GUEST_COMPONENTS.overview : GUEST_COMPONENTS.shared_metrics
}

const Views = ({ session }: { session: Session }): JSX.Element => (
  <Router>
    {VIEWS.filter((one) => hasView(session, one)).map(({ path, view }) => (
      <Route key={path} path={path} component={componentOf(view, session)} />
    ))}
    <Route default component={NotFound} />
  </Router>
)

function ErrorView({ error, again }: { error: Error; again: () => void }): JSX.Element {
  return (
    <main class="page" id="content">
      <Empty icon="warning" title="Something went wrong">
        <p>{error.message}</p>
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      </Empty>
    </main>
  )
}

/** Refetches the session when it ends and clears all cached data. Returns whether the session ended on this page. */
function useSignedOut(session: Session | undefined): boolean {
  const wasSignedIn = useRef(false)
  const isSignedIn = session?.state === 'owner' || session?.state === 'guest'
  useEffect(() => {
    const refetchSession = (): void => void invalidate('/api/v1/session')
    window.addEventListener(SIGNED_OUT_EVENT, refetchSession)
    return () => window.removeEventListener(SIGNED_OUT_EVENT, refetchSession)
  }, [])
  useEffect(() => {
    if (wasSignedIn.current && !isSignedIn)
      client.removeQueries({ predicate: ({ queryKey: [path] }) => path !== '/api/v1/session' })
    if (isSignedIn) wasSignedIn.current = true
  }, [isSignedIn])
  return wasSignedIn.current && !isSignedIn
}

/**
 * Whether the last session was a guest’s. The browser stores this, because the server deletes the sessions of an
 * expired link.
 */
function useWasGuest(session: Session | undefined): boolean {
  const state = session?.state
  useEffect(() => {
    if (state === 'guest') localStorage.setItem('guest', 'yes')
    if (state === 'owner') localStorage.removeItem('guest')
  }, [state])
  return localStorage.getItem('guest') !== null
}

/** How soon the page of a guest notices that its link was revoked. */
const GUEST_CHECK_MS = 5_000

function Gate(): JSX.Element | null {
  const { path } = useLocation()
  const [isGuest, setGuest] = useState(false)
  const session = useQuery<Session>('/api/v1/session', {}, isGuest ? { interval_ms: GUEST_CHECK_MS } : {})
  useEffect(() => {
    setGuest(session.data?.state === 'guest')
    if (session.data) noteSession(session.data)
  }, [session.data?.state])
  const wasSignedOut = useSignedOut(session.data)
  const wasGuest = useWasGuest(session.data)
  const [broken, setBroken] = useState<Error | null>(null)
  const { data, problem, retry } = session
  if (!data)
    return problem ? (
      <main class="alone">
        <Failed problem={problem} retry={retry} />
      </main>
    ) : null
  const isSignedOut = data.state === 'setup' || data.state === 'signed_out'
  if (isSignedOut && isUnknownPath(path)) return <NotFound />
  if (isSignedOut || isEntryPath(path))
    return (
      <SessionContext.Provider value={data}>
        <ErrorBoundary>
          <COMPONENTS.sign_in session={data} wasSignedOut={wasSignedOut} wasGuest={wasGuest} />
        </ErrorBoundary>
      </SessionContext.Provider>
    )
  return (
    <SessionContext.Provider value={data}>
      <ReauthProvider>
        <Frame>
          {broken ? (
            <ErrorView error={broken} again={() => setBroken(null)} />
          ) : (
            <ErrorBoundary onError={setBroken}>
              <Views session={data} />
            </ErrorBoundary>
          )}
        </Frame>
      </ReauthProvider>
    </SessionContext.Provider>
  )
}

export const Page = (): JSX.Element => (
  <LocationProvider>
    <Gate />
  </LocationProvider>
)
