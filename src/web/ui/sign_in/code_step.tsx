/** The second step of what needs the password: a code of the authenticator app, or a recovery code. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { problemFrom } from '../queries.ts'
import { SignInForm } from './sign_in_form.tsx'

type CodeFieldProps = { label: string; value: string; onInput: (value: string) => void; isRecovery?: boolean }

/** A field for a code. Phones offer digits, and fill in the code if they can. */
export function CodeField({ label, value, onInput, isRecovery = false }: CodeFieldProps): JSX.Element {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  // Browsers ignore autofocus in what appears later.
  useEffect(() => input.current?.focus(), [])
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        class="input mono"
        type="text"
        inputMode={isRecovery ? 'text' : 'numeric'}
        autocomplete={isRecovery ? 'off' : 'one-time-code'}
        autocapitalize="none"
        spellcheck={false}
        maxLength={100}
        required
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  )
}

/** Waits for a request with a password. If the server wants a code as well, calls `ask`. */
export const orAskForCode = (request: Promise<void>, ask: () => void): Promise<void> =>
  request.catch((error: unknown) => {
    if (problemFrom(error).code !== 'code_required') throw error
    ask()
  })

type CodeStepProps = {
  verb: string
  /** Repeats the request with the code. */
  send: (code: string) => Promise<void>
  onBack: () => void
  /** The heading. */
  children?: ComponentChildren
}

export function CodeStep({ verb, send, onBack, children }: CodeStepProps): JSX.Element {
  const [code, setCode] = useState('')
  const [isRecovery, setRecovery] = useState(false)
  return (
    <SignInForm
      verb={verb}
      action={() => send(code)}
      after={
        <div class="row spread">
          <button
            type="button"
            class="button plain"
            onClick={() => {
              setCode('')
              setRecovery(!isRecovery)
            }}
          >
            {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
          </button>
          <button type="button" class="button plain" onClick={onBack}>
            Back
          </button>
        </div>
      }
    >
      {children}
      <p class="small quiet">
        {isRecovery
          ? 'You got the recovery codes when you set up the authenticator app. Each works once.'
          : 'Your authenticator app shows a code of six digits for Windfall.'}
      </p>
      <CodeField
        key={String(isRecovery)}
        label={isRecovery ? 'Recovery code' : 'Code'}
        value={code}
        onInput={setCode}
        isRecovery={isRecovery}
      />
    </SignInForm>
  )
}
