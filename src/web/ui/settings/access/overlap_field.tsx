/** Selects how long a replaced key or secret keeps working. */
import type { JSX } from 'preact'

type OverlapFieldProps = {
  label: string
  hours: number
  choices: readonly { hours: number; title: string }[]
  onPick: (hours: number) => void
}

export const OverlapField = ({ label, hours, choices, onPick }: OverlapFieldProps): JSX.Element => (
  <label class="field">
    <span>{label}</span>
    <select class="select" value={hours} onChange={(event) => onPick(Number(event.currentTarget.value))}>
      {choices.map((choice) => (
        <option key={choice.hours} value={choice.hours}>
          {choice.title}
        </option>
      ))}
    </select>
  </label>
)
