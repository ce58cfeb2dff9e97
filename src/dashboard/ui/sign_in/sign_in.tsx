/** Before anything else: the password, once to be chosen and then to be given. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { renew } from '../answers.ts'
import { write } from '../asking.ts'
import { useDeed } from '../parts/dialog.tsx'
import type { Session } from '../session.ts'
import { ByLink } from './by_link.tsx'

/** A token comes in the fragment, so that no server's log and no preview sees it. */
const fragment = (): string => location.hash.slice(1)

export function SignIn({ session }: { session: Session }): JSX.Element {
  const token = fragment()
  const path = token === '' ? null : location.pathname
  return (
    <main class="alone" id="content">
      <div class="card card-pad stack">
        <p class="brand">
          <img src="/icon.svg" alt="" width="26" height="26" /> Windfall
        </p>
        {path === '/setup' ? (
          <Setup token={token} />
        ) : path === '/share' || path === '/login' ? (
          <ByLink token={token} isShared={path === '/share'} />
        ) : session.state === 'setup' ? (
          <HowToBegin />
        ) : (
          <Login />
        )}
      </div>
    </main>
  )
}

const HowToBegin = (): JSX.Element => (
  <>
    <h1>Choose a password first</h1>
    <p class="small">
      This Windfall has no owner yet. When it started it printed a link that is good for one use; open that
      one. It has gone out of sight? <code>windfall owner reset</code> prints a new one.
    </p>
  </>
)

function Login(): JSX.Element {
  const [password, setPassword] = useState('')
  const { run, isBusy, problem } = useDeed(async () => {
    await write('POST', '/api/v1/login', { password })
    await renew('/api/v1')
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <h1>Sign in</h1>
      <input type="text" name="username" autocomplete="username" value="owner" hidden readOnly />
      <label class="field">
        <span>Password</span>
        <input
          class="input"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <Wrong problem={problem} />
      <button type="submit" class="button main" disabled={isBusy}>
        Sign in
      </button>
      <p class="tiny quiet">
        Forgotten? <code>windfall owner reset</code> on the server prints a new link.
      </p>
    </form>
  )
}

const Wrong = ({ problem }: { problem: string | null }): JSX.Element | null =>
  problem === null ? null : (
    <p class="notice bad" role="alert">
      {problem}
    </p>
  )

function Setup({ token }: { token: string }): JSX.Element {
  const [password, setPassword] = useState('')
  const { run, isBusy, problem } = useDeed(async () => {
    await write('POST', '/api/v1/setup', { token, password })
    history.replaceState(null, '', '/')
    location.replace('/')
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        run()
      }}
    >
      <h1>Choose a password</h1>
      <p class="small quiet">
        It is the only one: whoever has it sees everything here. At least twelve characters; a sentence is
        good.
      </p>
      <input type="text" name="username" autocomplete="username" value="owner" hidden readOnly />
      <label class="field">
        <span>Password</span>
        <input
          class="input"
          type="password"
          autocomplete="new-password"
          minLength={12}
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <Wrong problem={problem} />
      <button type="submit" class="button main" disabled={isBusy}>
        Set the password and go on
      </button>
    </form>
  )
}
