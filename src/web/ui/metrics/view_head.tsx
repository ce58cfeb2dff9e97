/** The heading of a metrics view, with a link to all metrics. */
import type { ComponentChildren, JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { Title } from '../parts/title.tsx'
import { useScope } from '../scope.ts'
import { ShareButton } from '../sharing/share_button.tsx'

type ViewHeadProps = {
  title: string
  /** Those that the view shows, for a share link. */
  metrics: readonly string[]
  tools?: ComponentChildren
}

export function ViewHead({ title, metrics, tools }: ViewHeadProps): JSX.Element {
  const { href } = useScope()
  return (
    <header class="page-head">
      <Title>{title}</Title>
      <div class="row">
        <a class="small" href={href('/metrics')}>
          All metrics <Icon name="right" class="tiny-icon" />
        </a>
        {tools}
        <ShareButton metrics={metrics} />
      </div>
    </header>
  )
}
