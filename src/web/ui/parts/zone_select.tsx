/** A choice of a time zone. */
import type { JSX } from 'preact'

/** The time zone of this device. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

type SelectProps = { label: string; value: string; onChange: (zone: string) => void }
/** A choice of all time zones, with that of this device first. */
export function ZoneSelect({ label, value, onChange }: SelectProps): JSX.Element {
  const zones = new Set([ownZone(), value, 'UTC', ...Intl.supportedValuesOf('timeZone')])
  return (
    <label class="field">
      <span>{label}</span>
      <select class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {[...zones].map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
    </label>
  )
}
