/** A link from a detail page back to its list. */
import type { JSX } from 'preact'
import { useScope } from '../scope.ts'
import { Icon } from './icons.tsx'

export function BackLink({ to, title }: { to: string; title: string }): JSX.Element {
  const { href } = useScope()
  return (
    <nav aria-label="Breadcrumb">
      <a class="back" href={href(to)}>
        <Icon name="left" /> {title}
      </a>
    </nav>
  )
}
