/** The heading of a metrics view, with a link to all metrics. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { Title } from '../parts/title.tsx'
import { useScope } from '../scope.ts'
import { ShareButton } from '../sharing/share_button.tsx'

/** `metrics`: those that the view shows, for a share link. */
export function ViewHead({ title, metrics }: { title: string; metrics: readonly string[] }): JSX.Element {
  const { href } = useScope()
  return (
    <header class="page-head">
      <Title>{title}</Title>
      <div class="row">
        <a class="small" href={href('/metrics')}>
          All metrics <Icon name="right" class="tiny-icon" />
        </a>
        <ShareButton metrics={metrics} />
      </div>
    </header>
  )
}
