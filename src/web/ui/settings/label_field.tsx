/** The name field of a key or grant. */
import type { JSX } from 'preact'

type LabelFieldProps = { value: string; hint: string; onChange: (value: string) => void }

export const LabelField = ({ value, hint, onChange }: LabelFieldProps): JSX.Element => (
  <label class="field">
    <span>Name</span>
    <input
      class="input"
      required
      maxLength={100}
      placeholder={hint}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  </label>
)
