/** A sign-in form that shows the error and, after too many attempts, the seconds until the next one. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Problem } from '../http.ts'
import { currentTime, useNow } from '../now.ts'
import { useMutation } from '../parts/dialog.tsx'
import { ErrorMessage } from '../parts/error_message.tsx'
import { client, queryKey } from '../queries.ts'
import type { Session } from '../session.ts'
import { plural } from '../words.ts'

/** Starts a session and clears the data that was cached for another session. */
export function startSession(session: Session): void {
  client.removeQueries({ predicate: ({ queryKey: [path] }) => path !== '/api/v1/session' })
  client.setQueryData(queryKey('/api/v1/session'), session)
}

/** The seconds until the next attempt is allowed. */
function useRetryAfter(refusal: Problem | null): number {
  const now = useNow(1_000)
  const [wait, setWait] = useState<{ refusal: Problem | null; until: number }>({ refusal: null, until: 0 })
  if (refusal !== wait.refusal)
    setWait({ refusal, until: refusal?.retryAfter ? currentTime() + refusal.retryAfter * 1000 : 0 })
  return Math.max(0, Math.ceil((wait.until - now) / 1000))
}

type SignInFormProps = {
  verb: string
  action: () => Promise<void>
  /** Below the button. */
  after?: ComponentChildren
  children: ComponentChildren
}

export function SignInForm({ verb, action, after, children }: SignInFormProps): JSX.Element {
  const { run, isBusy, problem, failure } = useMutation(action)
  const seconds = useRetryAfter(failure)
  return (
    <form
      class="stack"
      method="post"
      onSubmit={(event) => {
        event.preventDefault()
        if (seconds === 0 && !isBusy) run()
      }}
    >
      {children}
      <ErrorMessage message={problem} />
      <button type="submit" class="button main" disabled={isBusy || seconds > 0}>
        {seconds > 0 ? `Try again in ${plural(seconds, 'second')}` : isBusy ? 'Please wait' : verb}
      </button>
      {after}
    </form>
  )
}
