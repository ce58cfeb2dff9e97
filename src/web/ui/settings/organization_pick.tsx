/** Selects an organization if there are several. */
import type { JSX } from 'preact'
import { useSettings } from './settings_queries.ts'

type PickProps = { value: string | null; onPick: (id: string) => void; isSlim?: boolean }

export function OrganizationPick({ value, onPick, isSlim = false }: PickProps): JSX.Element | null {
  const organizations = useSettings().data?.organizations ?? []
  if (organizations.length < 2) return null
  return (
    <label class={isSlim ? undefined : 'field'}>
      <span class={isSlim ? 'spoken' : undefined}>Organization</span>
      <select
        class={isSlim ? 'select slim' : 'select'}
        value={value ?? ''}
        onChange={(event) => onPick(event.currentTarget.value)}
      >
        {organizations.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
