/** Opens a share link, with a passcode if required. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { type Problem, write } from '../http.ts'
import { Failed } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { problemFrom } from '../queries.ts'
import type { Session } from '../session.ts'
import { SignInForm, startSession } from './sign_in_form.tsx'

function useOpenLink(token: string): (passcode: string | null) => Promise<void> {
  const { route } = useLocation()
  return async (passcode) => {
    const session = await write<Session>('POST', '/api/v1/share/open', { token, passcode })
    route('/', true)
    startSession(session)
  }
}

function Passcode({ open }: { open: (passcode: string) => Promise<void> }): JSX.Element {
  const [passcode, setPasscode] = useState('')
  return (
    <SignInForm verb="Open" action={() => open(passcode)}>
      <Title>Passcode required</Title>
      <p class="small quiet">Ask the person who sent you this link for its passcode.</p>
      <label class="field">
        <span>Passcode</span>
        <input
          class="input"
          type="password"
          autocomplete="off"
          required
          value={passcode}
          onInput={(event) => setPasscode(event.currentTarget.value)}
        />
      </label>
    </SignInForm>
  )
}

export function Share({ token }: { token: string }): JSX.Element {
  const open = useOpenLink(token)
  const [problem, setProblem] = useState<Problem | null>(null)
  const submit = (): void => {
    setProblem(null)
    open(null).catch((error: unknown) => setProblem(problemFrom(error)))
  }
  useEffect(submit, [token])
  if (problem?.code === 'passcode_required') return <Passcode open={open} />
  if (problem?.code === 'signed_in_already')
    return (
      <>
        <Title>This is a share link</Title>
        <p class="small">{problem.message}</p>
        <a class="button main" href="/">
          Go to dashboard
        </a>
      </>
    )
  if (problem?.code === 'invalid_share_link')
    return (
      <>
        <Title>This link no longer works</Title>
        <p class="small">{problem.message}</p>
      </>
    )
  if (problem) return <Failed problem={problem} retry={submit} />
  return (
    <p class="small quiet" role="status">
      Opening the link
    </p>
  )
}
