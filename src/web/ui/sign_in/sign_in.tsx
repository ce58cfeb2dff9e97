/** Before anything else: the password, once to be chosen and then to be given; or a link that lets in. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { SIGN_IN_PATHS, type SignInPath } from '../addresses.ts'
import { problemFrom } from '../answers.ts'
import { type Problem, write } from '../http.ts'
import { Copy, commandLine } from '../parts/copy.tsx'
import { type Session, storageWords } from '../session.ts'
import { Entering, enter } from './entering.tsx'
import { PasswordField } from './password.tsx'
import { Share } from './share.tsx'

const doorOf = (path: string): SignInPath | null => SIGN_IN_PATHS.find((door) => door === path) ?? null
const tokenIn = (path: string): string => (doorOf(path) ? location.hash.slice(1) : '')

/** Whether an address asks to come in, whoever is signed in already. */
export const isDoor = (path: string): boolean => path !== '/login' && tokenIn(path) !== ''

/** A door, for who is in already. */
export function Inwards(): null {
  const { route } = useLocation()
  useEffect(() => route('/', true), [])
  return null
}

type SignInProps = { session: Session; isOver: boolean; wasGuest: boolean }
/** `isOver`: somebody was signed in a moment ago. `wasGuest`: who was in last came by a share link. */
export function SignIn({ session, isOver, wasGuest }: SignInProps): JSX.Element {
  const { path } = useLocation()
  // Kept: the address becomes another before the session does.
  const storage = storageWords(session.storage)
  const [{ door, token }] = useState(() => ({ door: doorOf(path), token: tokenIn(path) }))
  return (
    <main class="alone" id="content">
      <div class="card card-pad stack">
        <p class="brand">
          <img src="/icon.svg" alt="" width="26" height="26" /> Windfall
        </p>
        {storage !== null && (
          <p class="notice warn" role="status">
            {storage}
          </p>
        )}
        {session.insecure && (
          <p class="notice warn" role="status">
            This page came over plain http: whoever is on the way can read the password along.
          </p>
        )}
        <Inside session={session} isOver={isOver} wasGuest={wasGuest} door={door} token={token} />
      </div>
    </main>
  )
}

function Inside({
  session,
  isOver,
  wasGuest,
  door,
  token,
}: SignInProps & { door: SignInPath | null; token: string }) {
  if (token !== '' && door === '/share') return <Share token={token} />
  if (token !== '' && door === '/setup') return <Setup token={token} />
  if (token !== '' && door === '/login') return <ByLink token={token} />
  if (session.state === 'setup') return <HowToBegin />
  return wasGuest ? <LinkOver /> : <Login isOver={isOver} />
}

const RESET = commandLine('windfall owner reset')

const HowToBegin = (): JSX.Element => (
  <>
    <h1>Choose a password first</h1>
    <p class="small">
      This Windfall has no owner yet. When it started it printed a link that is good for one use; open that
      one. If it has gone out of sight, this prints a new one:
    </p>
    <Copy text={RESET} label="the command" />
  </>
)

/** A guest has no password, so that none is asked for, unless they say that they are the owner. */
function LinkOver(): JSX.Element {
  const [isOwner, setOwner] = useState(false)
  if (isOwner) return <Login isOver={false} />
  return (
    <>
      <h1>This link is no longer valid</h1>
      <p class="small">
        The share link that you came by was revoked, or its time is over, or you signed out. Open it again, or
        ask for another where you got it.
      </p>
      <button type="button" class="button" onClick={() => setOwner(true)}>
        I am the owner
      </button>
    </>
  )
}

/** Goes on where one was; from a door, to the first view. */
function useEntering(): (session: Session) => void {
  const { path, route } = useLocation()
  return (session) => {
    if (doorOf(path)) route('/', true)
    enter(session)
  }
}

function Login({ isOver, children }: { isOver: boolean; children?: ComponentChildren }): JSX.Element {
  const [password, setPassword] = useState('')
  const goOn = useEntering()
  return (
    <Entering
      verb="Sign in"
      deed={async () => goOn(await write<Session>('POST', '/api/v1/login', { password }))}
      after={
        <p class="tiny quiet">
          Forgotten? <code>{RESET}</code> on the server prints a link to choose another.
        </p>
      }
    >
      <h1>Sign in</h1>
      {isOver && (
        <p class="notice" role="status">
          You have been signed out. Sign in to go on where you were.
        </p>
      )}
      {children}
      <PasswordField label="Password" value={password} onInput={setPassword} isFirst />
    </Entering>
  )
}

/** A link that lets in once without the password; where it does not, the password still does. */
function ByLink({ token }: { token: string }): JSX.Element {
  const goOn = useEntering()
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    write<Session>('POST', '/api/v1/login', { token })
      .then(goOn)
      .catch((error: unknown) => setProblem(problemFrom(error)))
  }, [token])
  if (!problem)
    return (
      <p class="small quiet" role="status">
        Signing in
      </p>
    )
  return (
    <Login isOver={false}>
      <p class="notice bad" role="alert">
        {problem.message}
      </p>
    </Login>
  )
}

function Setup({ token }: { token: string }): JSX.Element {
  const [password, setPassword] = useState('')
  const goOn = useEntering()
  return (
    <Entering
      verb="Set the password and go on"
      deed={async () => goOn(await write<Session>('POST', '/api/v1/setup', { token, password }))}
    >
      <h1>Choose a password</h1>
      <p class="small quiet">It is the only one: whoever has it sees everything here.</p>
      <PasswordField
        label="New password"
        value={password}
        onInput={setPassword}
        isNew
        isFirst
        hint="At least twelve characters. A sentence is good."
      />
    </Entering>
  )
}
