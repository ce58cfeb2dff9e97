/** A link that lets in by itself: the one that the demo prints, or one that the owner shared, which may ask for a passcode. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Problem, write } from '../asking.ts'

type Props = { token: string; isShared: boolean }

export function ByLink({ token, isShared }: Props): JSX.Element {
  const [passcode, setPasscode] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)

  async function enter(): Promise<void> {
    setBusy(true)
    try {
      await (isShared
        ? write('POST', '/api/v1/share/open', { token, passcode: passcode === '' ? null : passcode })
        : write('POST', '/api/v1/login', { token }))
      // The token is spent, and must not stand in the history.
      location.replace('/')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      setProblem(error)
      setBusy(false)
    }
  }
  useEffect(() => void enter(), [])

  if (problem === null) return <p class="quiet">Opening …</p>
  if (problem.code === 'passcode_required' || problem.code === 'wrong_passcode')
    return (
      <Passcode
        value={passcode}
        onInput={setPasscode}
        wrong={problem.code === 'wrong_passcode' ? problem.message : null}
        isBusy={isBusy}
        onSubmit={() => void enter()}
      />
    )
  return (
    <>
      <p class="notice bad" role="alert">
        {problem.message}
      </p>
      {!isShared && (
        <button type="button" class="button" onClick={() => location.replace('/login')}>
          Sign in with the password
        </button>
      )}
    </>
  )
}

type PasscodeProps = {
  value: string
  onInput: (value: string) => void
  wrong: string | null
  isBusy: boolean
  onSubmit: () => void
}

const Passcode = ({ value, onInput, wrong, isBusy, onSubmit }: PasscodeProps): JSX.Element => (
  <form
    class="stack"
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    <h1>A shared view</h1>
    <label class="field">
      <span>Passcode</span>
      <input
        class="input"
        type="password"
        autocomplete="off"
        required
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
    {wrong !== null && (
      <p class="notice bad" role="alert">
        {wrong}
      </p>
    )}
    <button type="submit" class="button main" disabled={isBusy}>
      Open
    </button>
  </form>
)
