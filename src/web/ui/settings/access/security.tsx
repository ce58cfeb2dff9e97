/** Settings, Security: who may call, sessions, password, authenticator app, passkeys and audit log. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import { MIN_PASSWORD_CHARACTERS } from '../../../../access/password_limits.ts'
import type { SessionsAnswer } from '../../../../api/owner/owner.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm, Dialog, useMutation } from '../../parts/dialog.tsx'
import { ErrorMessage } from '../../parts/error_message.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { invalidate, useQuery } from '../../queries.ts'
import { CodeStep, orAskForCode } from '../../sign_in/code_step.tsx'
import { PasswordField } from '../../sign_in/password.tsx'
import { AttestedOnly } from '../security/attested_only.tsx'
import { Callers } from '../security/callers.tsx'
import { Audit } from './audit.tsx'
import { AuthenticatorApp } from './authenticator_app.tsx'
import { browserName } from './browsers.ts'
import { PasskeyCard } from './passkeys.tsx'

type Session = InferOutput<typeof SessionsAnswer>['sessions'][number]
const PATH = '/api/v1/sessions'

function Row({ session }: { session: Session }): JSX.Element {
  const { run, isBusy, problem } = useMutation(async () => {
    await write('DELETE', `${PATH}/${session.id}`)
    await invalidate(PATH)
  })
  return (
    <li class="spread">
      <div class="stack-s small">
        <span class="row">
          <strong title={session.user_agent}>{browserName(session.user_agent)}</strong>
          {session.current && <span class="badge good">This browser</span>}
        </span>
        <span class="quiet">
          from {session.address}, last used <RelativeTime at={session.seen_at} />, created{' '}
          <RelativeTime at={session.created_at} />
        </span>
        {problem && (
          <span class="bad" role="alert">
            {problem}
          </span>
        )}
      </div>
      {!session.current && (
        <button type="button" class="button" disabled={isBusy} onClick={run}>
          Sign out<span class="spoken"> {browserName(session.user_agent)}</span>
        </button>
      )}
    </li>
  )
}

function Sessions(): JSX.Element {
  const result = useQuery<InferOutput<typeof SessionsAnswer>>(PATH)
  const [isEnding, setEnding] = useState(false)
  const isOnlySession = (result.data?.sessions.length ?? 0) < 2
  return (
    <Card
      title="Sessions"
      tools={
        <button type="button" class="button" disabled={isOnlySession} onClick={() => setEnding(true)}>
          Sign out everywhere else
        </button>
      }
    >
      <QueryView result={result} height={120}>
        {({ sessions }) => (
          <ul class="rows">
            {sessions.map((session) => (
              <Row key={session.id} session={session} />
            ))}
          </ul>
        )}
      </QueryView>
      {isEnding && (
        <Confirm
          title="Sign out everywhere else"
          verb="Sign out"
          onClose={() => setEnding(false)}
          action={async () => {
            await write('DELETE', PATH)
            await invalidate(PATH)
          }}
        >
          <p>All other browsers must sign in again.</p>
        </Confirm>
      )}
    </Card>
  )
}

function Password(): JSX.Element {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [isDone, setDone] = useState(false)
  const [needsCode, setNeedsCode] = useState(false)
  const change = async (code?: string): Promise<void> => {
    setDone(false)
    await write('POST', '/api/v1/password', { current_password: current, password, ...(code && { code }) })
    await invalidate(PATH, '/api/v1/session')
    setNeedsCode(false)
    setCurrent('')
    setPassword('')
    setDone(true)
  }
  const { run, isBusy, problem } = useMutation(() => orAskForCode(change(), () => setNeedsCode(true)))
  return (
    <Card title="Password">
      <form
        class="stack narrow"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        <PasswordField label="Current password" value={current} onInput={setCurrent} />
        <PasswordField
          label="New password"
          value={password}
          onInput={setPassword}
          isNew
          hint={`At least ${MIN_PASSWORD_CHARACTERS} characters. All other browsers are signed out.`}
        />
        <ErrorMessage message={problem} />
        {isDone && (
          <p class="notice good" role="status">
            Password changed.
          </p>
        )}
        <div>
          <button type="submit" class="button main" disabled={isBusy}>
            Change password
          </button>
        </div>
      </form>
      {needsCode && (
        <Dialog title="Enter a code" onClose={() => setNeedsCode(false)}>
          <CodeStep verb="Change password" send={change} onBack={() => setNeedsCode(false)} />
        </Dialog>
      )}
    </Card>
  )
}

export const Security = (): JSX.Element => (
  <>
    <Sessions />
    <Password />
    <AuthenticatorApp />
    <PasskeyCard />
    <AttestedOnly />
    <Callers />
    <Audit />
  </>
)
