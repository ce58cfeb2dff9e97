/** Which view an address means, and whether one must sign in first. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso'
import { client, invalidate, useQuery } from './answers.ts'
import { Frame } from './frame/frame.tsx'
import { SIGNED_OUT_EVENT } from './http.ts'
import { Empty, Failed } from './parts/states.tsx'
import { type Session, SessionContext } from './session.ts'
import { ReauthProvider } from './sign_in/fresh.tsx'
import { ENTRY_PATHS, isEntryPath, RedirectHome, SignIn } from './sign_in/sign_in.tsx'

const Today = lazy(() => import('./today/today.tsx').then((module) => module.Today))
const Revenue = lazy(() => import('./revenue/revenue.tsx').then((module) => module.Revenue))
const Subscriptions = lazy(() =>
  import('./subscriptions/subscriptions.tsx').then((module) => module.Subscriptions),
)
const Retention = lazy(() => import('./retention/retention.tsx').then((module) => module.Retention))
const Metrics = lazy(() => import('./metrics/metrics.tsx').then((module) => module.Metrics))
const Metric = lazy(() => import('./metrics/metric.tsx').then((module) => module.Metric))
const Customers = lazy(() => import('./customers/customers.tsx').then((module) => module.Customers))
const Profile = lazy(() => import('./customers/profile.tsx').then((module) => module.Profile))
const User = lazy(() => import('./customers/user.tsx').then((module) => module.UserPage))
const Events = lazy(() => import('./events/events.tsx').then((module) => module.Events))
const EventPage = lazy(() => import('./events/event.tsx').then((module) => module.EventPage))
const Gaps = lazy(() => import('./events/gaps.tsx').then((module) => module.Gaps))
const Coverage = lazy(() => import('./events/coverage/coverage.tsx').then((module) => module.Coverage))
const Settings = lazy(() => import('./settings/settings.tsx').then((module) => module.Settings))

type LazyView = { preload: () => Promise<unknown> }
/** By the first word of an address, and by the second where that names one of many. */
const ROUTES_BY_SEGMENT: Record<string, readonly [view: LazyView, one?: LazyView]> = {
  '': [Today],
  revenue: [Revenue],
  subscriptions: [Subscriptions],
  retention: [Retention],
  metrics: [Metrics, Metric],
  customers: [Customers, Profile],
  users: [User],
  events: [Events, EventPage],
  gaps: [Gaps],
  coverage: [Coverage],
  settings: [Settings, Settings],
}

/** Fetches the code of the view at an address, while the server is still asked who it is. */
export function preloadView(path: string): void {
  const [, word = '', name] = path.split('/')
  const [view, one] = ROUTES_BY_SEGMENT[word] ?? []
  // What fails here fails again where the view is drawn, and is told there.
  void (name && one ? one : view)?.preload().catch(() => {})
}

/** Whether an address is none of ours, whoever looks. */
const isUnknownPath = (path: string): boolean => {
  const [, word = ''] = path.split('/')
  return !Object.hasOwn(ROUTES_BY_SEGMENT, word) && !ENTRY_PATHS.some((entryPath) => entryPath === path)
}

const NotFound = (): JSX.Element => (
  <main class="page" id="content">
    <h1 class="spoken">Nothing here</h1>
    <Empty icon="question" title="There is nothing at this address">
      <a class="button" href="/">
        To today
      </a>
    </Empty>
  </main>
)

const OWNER_ROUTES = [
  <Route key="customers" path="/customers" component={Customers} />,
  <Route key="customer" path="/customers/:id" component={Profile} />,
  <Route key="user" path="/users/:id" component={User} />,
  <Route key="events" path="/events" component={Events} />,
  <Route key="event" path="/events/:id" component={EventPage} />,
  <Route key="gaps" path="/gaps" component={Gaps} />,
  <Route key="coverage" path="/coverage" component={Coverage} />,
  <Route key="settings" path="/settings" component={Settings} />,
  <Route key="section" path="/settings/:section" component={Settings} />,
]

const Views = ({ isGuest }: { isGuest: boolean }): JSX.Element => (
  <Router>
    <Route path="/" component={Today} />
    <Route path="/revenue" component={Revenue} />
    <Route path="/subscriptions" component={Subscriptions} />
    <Route path="/retention" component={Retention} />
    <Route path="/metrics" component={Metrics} />
    <Route path="/metrics/:name" component={Metric} />
    {isGuest ? [] : OWNER_ROUTES}
    {ENTRY_PATHS.map((entryPath) => (
      <Route key={entryPath} path={entryPath} component={RedirectHome} />
    ))}
    <Route default component={NotFound} />
  </Router>
)

function ErrorView({ error, again }: { error: Error; again: () => void }): JSX.Element {
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

/** Remembered by the browser, because the server forgets the sessions of a link that is over. */
function useWasGuest(session: Session | undefined): boolean {
  const state = session?.state
  useEffect(() => {
    if (state === 'guest') localStorage.setItem('guest', 'yes')
    if (state === 'owner') localStorage.removeItem('guest')
  }, [state])
  return localStorage.getItem('guest') !== null
}

function Gate(): JSX.Element | null {
  const { path } = useLocation()
  const session = useQuery<Session>('/api/v1/session')
  const isOver = useSignedOut(session.data)
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
    return <SignIn session={data} wasSignedOut={isOver} wasGuest={wasGuest} />
  return (
    <SessionContext.Provider value={data}>
      <ReauthProvider>
        <Frame>
          {broken ? (
            <ErrorView error={broken} again={() => setBroken(null)} />
          ) : (
            <ErrorBoundary onError={setBroken}>
              <Views isGuest={data.state === 'guest'} />
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
