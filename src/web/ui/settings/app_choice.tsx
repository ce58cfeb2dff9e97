/** Selects all apps, including future ones, or some. */
import type { JSX } from 'preact'
import { useApps } from '../apps.ts'

type AppChoiceProps = {
  /** App ids; null is all apps. */
  value: readonly string[] | null
  onChange: (apps: string[] | null) => void
  /** Shows only the apps of this organization. */
  organization_id?: string | null
}

export function AppChoice({ value, onChange, organization_id = null }: AppChoiceProps): JSX.Element {
  const all = useApps().data?.apps ?? []
  const apps = all.filter((app) => organization_id === null || app.organization_id === organization_id)
  const toggle = (id: string): void => {
    const before = value ?? []
    const after = before.includes(id) ? before.filter((one) => one !== id) : [...before, id]
    onChange(after.length === 0 ? null : after)
  }
  return (
    <fieldset class="plain-set choices">
      <legend class="small">Apps</legend>
      <label>
        <input type="checkbox" checked={value === null} onClick={() => onChange(null)} /> All apps, including
        future ones
      </label>
      {apps.map((app) => (
        <label key={app.id}>
          <input type="checkbox" checked={value?.includes(app.id) ?? false} onClick={() => toggle(app.id)} />
          <span class="cut">{app.name ?? app.bundle_id}</span>
        </label>
      ))}
    </fieldset>
  )
}
