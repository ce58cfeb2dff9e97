/** The link to where Apple's keys are entered. */
import type { JSX } from 'preact'
import { Icon } from '../../parts/icons.tsx'
import { useScope } from '../../scope.ts'

export function ConnectLink(): JSX.Element {
  const { href } = useScope()
  return (
    <a class="button main" href={href('/settings/apple')}>
      <Icon name="key" /> Connect Apple
    </a>
  )
}
