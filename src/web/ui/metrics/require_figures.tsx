/** Renders its children, or an empty state if there is no app or the overview fails. */
import type { ComponentChildren, JSX } from 'preact'
import { useApps } from '../apps.ts'
import { latePart } from '../loading/late.tsx'
import { useOverview } from '../overview.ts'
import { Icon } from '../parts/icons.tsx'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { MissingApps } from '../today/missing_apps.tsx'

const NoApps = latePart('This view', () => import('../today/no_apps.tsx').then((module) => module.NoApps))

/** Metric queries wait for today's date from the overview. Without an overview they would load forever. */
export function RequireFigures({ children }: { children: ComponentChildren }): JSX.Element {
  const { scope } = useScope()
  const { overview, problem, retry } = useOverview(scope)
  const { state } = useSession()
  const apps = useApps().data?.apps
  if (state === 'owner' && apps?.length === 0) return <NoApps />
  if (overview === undefined && problem !== null) return <MissingApps problem={problem} again={retry} />
  return (
    <>
      {children}
      <p class="tiny quiet page-note">
        Dashed or hatched: incomplete period. The source of each figure is in its definition, at{' '}
        <Icon name="info" class="small-icon" />.
      </p>
    </>
  )
}
