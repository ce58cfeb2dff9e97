/** Figures, or what stands in their place where none can be asked for: no app yet, none that is connected, no answer. */
import type { ComponentChildren, JSX } from 'preact'
import { useApps } from '../apps.ts'
import { useOverview } from '../overview.ts'
import { useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { MissingApps, NoApps } from '../today/missing_apps.tsx'

/** Metrics wait for today's day: without it they would be awaited for ever. */
export function RequireFigures({ children }: { children: ComponentChildren }): JSX.Element {
  const { scope } = useScope()
  const { overview, problem, retry } = useOverview(scope)
  const { state } = useSession()
  const apps = useApps().data?.apps
  if (state === 'owner' && apps?.length === 0) return <NoApps />
  if (overview === undefined && problem !== null) return <MissingApps problem={problem} again={retry} />
  return <>{children}</>
}
