/** The sign-in pages: setup, password, sign-in link and share link. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { MIN_PASSWORD_CHARACTERS } from '../../../access/password_limits.ts'
import type { SignInPath } from '../addresses.ts'
import { type Problem, write } from '../http.ts'
import { Copy, commandLine } from '../parts/copy.tsx'
import { Title } from '../parts/title.tsx'
import { ownZone, ZoneSelect } from '../parts/zone_select.tsx'
import { problemFrom } from '../queries.ts'
import { type Session, storageMessage, useSession } from '../session.ts'
import { CodeStep, orAskForCode } from './code_step.tsx'
import { entryPathOf, tokenIn } from './entry_paths.ts'
import { PasskeyButton } from './passkey_button.tsx'
import { PasswordField } from './password.tsx'
import { Share } from './share.tsx'
import { SignInForm, startSession } from './sign_in_form.tsx'

type SignInProps = { session: Session; wasSignedOut: boolean; wasGuest: boolean }
/** `wasSignedOut`: the session has just ended. `wasGuest`: the last session was a guest's. */
export function SignIn({ session, wasSignedOut, wasGuest }: SignInProps): JSX.Element {
  const { path } = useLocation()
  const storage = storageMessage(session.storage)
  // The path and token are stored as state, because the URL changes before the session does.
  const [{ entryPath, token }] = useState(() => ({ entryPath: entryPathOf(path), token: tokenIn(path) }))
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
            This page was loaded over plain HTTP, so others can read your password.
          </p>
        )}
        <SignInContent
          session={session}
          wasSignedOut={wasSignedOut}
          wasGuest={wasGuest}
          entryPath={entryPath}
          token={token}
        />
      </div>
    </main>
  )
}

function SignInContent({
  session,
  wasSignedOut,
  wasGuest,
  entryPath,
  token,
}: SignInProps & { entryPath: SignInPath | null; token: string }) {
  if (token !== '' && entryPath === '/share') return <Share token={token} />
  if (token !== '' && entryPath === '/setup')
    return <Setup token={token} isFirst={session.state === 'setup'} />
  if (token !== '' && entryPath === '/login') return <LinkSignIn token={token} />
  if (session.state === 'setup') return <SetupRequired />
  return wasGuest ? <LinkExpired /> : <Login wasSignedOut={wasSignedOut} />
}

const RESET = commandLine('windfall owner reset')

const SetupRequired = (): JSX.Element => (
  <>
    <Title>Set up Windfall</Title>
    <p class="small">
      This server has no owner yet. Open the one-time setup link that it printed at startup. To print a new
      link, run:
    </p>
    <Copy text={RESET} label="the command" />
  </>
)

/** Guests have no password, so the sign-in form appears only on request. */
function LinkExpired(): JSX.Element {
  const [isOwner, setOwner] = useState(false)
  if (isOwner) return <Login wasSignedOut={false} />
  return (
    <>
      <Title>This link is no longer valid</Title>
      <p class="small">
        The share link was revoked or has expired, or you signed out. Open the link again, or ask its sender
        for a new one.
      </p>
      <button type="button" class="button" onClick={() => setOwner(true)}>
        I am the owner
      </button>
    </>
  )
}

/** Starts the session on the current view, or on the first view if the path is a sign-in path. */
function useStartSession(): (session: Session) => void {
  const { path, route } = useLocation()
  return (session) => {
    if (entryPathOf(path)) route('/', true)
    startSession(session)
  }
}

function Login({
  wasSignedOut,
  children,
}: {
  wasSignedOut: boolean
  children?: ComponentChildren
}): JSX.Element {
  const [password, setPassword] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const { passkeys } = useSession()
  const startSession = useStartSession()
  const signIn = async (code?: string): Promise<void> =>
    startSession(await write<Session>('POST', '/api/v1/login', { password, ...(code && { code }) }))
  if (needsCode)
    return (
      <CodeStep verb="Sign in" send={signIn} onBack={() => setNeedsCode(false)}>
        <Title>Enter a code</Title>
      </CodeStep>
    )
  return (
    <SignInForm
      verb="Sign in"
      action={() => orAskForCode(signIn(), () => setNeedsCode(true))}
      after={
        <>
          <PasskeyButton host={passkeys} onSignedIn={startSession} />
          <p class="tiny quiet">
            Forgot your password? Run <code>{RESET}</code> on the server to get a reset link.
          </p>
        </>
      }
    >
      <Title>Sign in</Title>
      {wasSignedOut && (
        <p class="notice" role="status">
          You were signed out. Sign in to continue.
        </p>
      )}
      {children}
      <PasswordField label="Password" value={password} onInput={setPassword} isFirst />
    </SignInForm>
  )
}

/** Signs in with a one-time link. If that fails, offers the password form. */
function LinkSignIn({ token }: { token: string }): JSX.Element {
  const startSession = useStartSession()
  const [problem, setProblem] = useState<Problem | null>(null)
  useEffect(() => {
    write<Session>('POST', '/api/v1/login', { token })
      .then(startSession)
      .catch((error: unknown) => setProblem(problemFrom(error)))
  }, [token])
  if (!problem)
    return (
      <p class="small quiet" role="status">
        Signing in
      </p>
    )
  return (
    <Login wasSignedOut={false}>
      <p class="notice bad" role="alert">
        {problem.message}
      </p>
    </Login>
  )
}

function Setup({ token, isFirst }: { token: string; isFirst: boolean }): JSX.Element {
  const [password, setPassword] = useState('')
  const [zone, setZone] = useState(ownZone)
  const startSession = useStartSession()
  const body = { token, password, ...(isFirst && { time_zone: zone }) }
  return (
    <SignInForm
      verb={isFirst ? 'Create account' : 'Set password'}
      action={async () => startSession(await write<Session>('POST', '/api/v1/setup', body))}
    >
      <Title>Choose a password</Title>
      <p class="small quiet">The password gives full access to this server.</p>
      <PasswordField
        label="New password"
        value={password}
        onInput={setPassword}
        isNew
        isFirst
        hint={`At least ${MIN_PASSWORD_CHARACTERS} characters. A passphrase works well.`}
      />
      {isFirst && (
        <>
          <ZoneSelect label="Time zone" value={zone} onChange={setZone} />
          <p class="tiny quiet">Days of charts, quiet hours and digests follow it.</p>
        </>
      )}
    </SignInForm>
  )
}
