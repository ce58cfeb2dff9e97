/** The heading of a metrics view, with a link to all metrics. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { Title } from '../parts/title.tsx'
import { useScope } from '../scope.ts'

export function ViewHead({ title }: { title: string }): JSX.Element {
  const { href } = useScope()
  return (
    <header class="page-head">
      <Title>{title}</Title>
      <a class="small" href={href('/metrics')}>
        All metrics <Icon name="right" class="tiny-icon" />
      </a>
    </header>
  )
}
