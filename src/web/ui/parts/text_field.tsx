/** A text field with its label and the error of the server. */
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

/** The error of a field, for `aria-describedby`. */
export const FieldError = ({
  id,
  message,
}: {
  id: string
  message: string | undefined
}): JSX.Element | null =>
  message === undefined ? null : (
    <span id={id} class="field-error bad" role="alert">
      {message}
    </span>
  )

type TextFieldProps = {
  label: string
  value: string
  hint: string
  error: string | undefined
  isRequired?: boolean
  type?: 'text' | 'password' | 'number' | 'time'
  onInput: (value: string) => void
  children?: ComponentChildren
}
export function TextField({
  label,
  value,
  hint,
  error,
  isRequired = false,
  type = 'text',
  onInput,
  children,
}: TextFieldProps): JSX.Element {
  const id = useId()
  return (
    <div class="stack-s">
      <label class="field">
        <span>{label}</span>
        <input
          class="input"
          // Preact's types want one literal for each kind of input.
          type={type as 'text'}
          step={type === 'number' ? 'any' : undefined}
          autocomplete={type === 'password' ? 'new-password' : 'off'}
          spellcheck={false}
          placeholder={hint}
          required={isRequired}
          value={value}
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : id}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <FieldError id={id} message={error} />
      {children}
    </div>
  )
}
