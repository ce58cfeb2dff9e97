/** The heading of a view of metrics, with the way to all of them. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { useScope } from '../scope.ts'

export function ViewHead({ title }: { title: string }): JSX.Element {
  const { href } = useScope()
  return (
    <header class="page-head">
      <h1>{title}</h1>
      <a class="small" href={href('/metrics')}>
        All metrics <Icon name="right" class="tiny-icon" />
      </a>
    </header>
  )
}
