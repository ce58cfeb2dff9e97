/** Which view an address means, and whether one must sign in first. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso'
import { client, renew, useAnswer } from './answers.ts'
import { Frame } from './frame/frame.tsx'
import { SIGNED_OUT } from './http.ts'
import { Empty, Failed } from './parts/states.tsx'
import { type Session, SessionContext } from './session.ts'
import { FreshDoor } from './sign_in/fresh.tsx'
import { DOORS, Inwards, isDoor, SignIn } from './sign_in/sign_in.tsx'

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
const EventAlone = lazy(() => import('./events/event.tsx').then((module) => module.EventPage))
const Gaps = lazy(() => import('./events/gaps.tsx').then((module) => module.Gaps))
const Coverage = lazy(() => import('./events/coverage/coverage.tsx').then((module) => module.Coverage))
const Settings = lazy(() => import('./settings/settings.tsx').then((module) => module.Settings))

type Lazy = { preload: () => Promise<unknown> }
/** By the first word of an address, and by the second where that names one of many. */
const BY_WORD: Record<string, readonly [view: Lazy, one?: Lazy]> = {
  '': [Today],
  revenue: [Revenue],
  subscriptions: [Subscriptions],
  retention: [Retention],
  metrics: [Metrics, Metric],
  customers: [Customers, Profile],
  users: [User],
  events: [Events, EventAlone],
  gaps: [Gaps],
  coverage: [Coverage],
  settings: [Settings, Settings],
}

/** Fetches the code of the view at an address, while the server is still asked who it is. */
export function fetchView(path: string): void {
  const [, word = '', name] = path.split('/')
  const [view, one] = BY_WORD[word] ?? []
  // What fails here fails again where the view is drawn, and is told there.
  void (name && one ? one : view)?.preload().catch(() => {})
}

/** Whether an address is none of ours, whoever looks. */
const isNowhere = (path: string): boolean => {
  const [, word = ''] = path.split('/')
  return !Object.hasOwn(BY_WORD, word) && !DOORS.some((door) => door === path)
}

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

const FOR_THE_OWNER = [
  <Route key="customers" path="/customers" component={Customers} />,
  <Route key="customer" path="/customers/:id" component={Profile} />,
  <Route key="user" path="/users/:id" component={User} />,
  <Route key="events" path="/events" component={Events} />,
  <Route key="event" path="/events/:id" component={EventAlone} />,
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
    {isGuest ? [] : FOR_THE_OWNER}
    {DOORS.map((door) => (
      <Route key={door} path={door} component={Inwards} />
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
