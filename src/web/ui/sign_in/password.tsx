/** A password field with a show button, compatible with password managers. */
import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { MIN_PASSWORD_CHARACTERS } from '../../../access/password_limits.ts'

type PasswordProps = {
  label: string
  value: string
  onInput: (value: string) => void
  /** The field is for a new password, not the current one. */
  isNew?: boolean
  hint?: string
  isFirst?: boolean
}

/** A hidden username, because password managers need one. */
const HiddenUsername = (): JSX.Element => (
  <input
    class="spoken"
    type="text"
    name="username"
    autocomplete="username"
    value="owner"
    readOnly
    tabIndex={-1}
    aria-hidden="true"
  />
)

export function PasswordField({
  label,
  value,
  onInput,
  isNew = false,
  hint,
  isFirst = false,
}: PasswordProps): JSX.Element {
  const id = useId()
  const [isShown, setShown] = useState(false)
  return (
    <div class="field">
      <HiddenUsername />
      <label for={id}>{label}</label>
      <span class="reveal">
        <input
          id={id}
          class="input"
          name={isNew ? 'new-password' : 'password'}
          type={(isShown ? 'text' : 'password') as 'password'}
          autocomplete={isNew ? 'new-password' : 'current-password'}
          aria-describedby={hint ? `${id}-hint` : undefined}
          {...(isNew && { minLength: MIN_PASSWORD_CHARACTERS })}
          autofocus={isFirst}
          autocapitalize="none"
          spellcheck={false}
          required
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <button type="button" class="button plain" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span class="spoken"> password</span>
        </button>
      </span>
      {hint && (
        <p id={`${id}-hint`} class="tiny quiet">
          {hint}
        </p>
      )}
    </div>
  )
}
