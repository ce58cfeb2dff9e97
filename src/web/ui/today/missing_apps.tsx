/** The empty state if the requested apps are not connected. */
import type { JSX } from 'preact'
import type { Problem } from '../http.ts'
import { Empty, Failed } from '../parts/query_view.tsx'
import { useScope } from '../scope.ts'

export function MissingApps({ problem, again }: { problem: Problem; again: () => void }): JSX.Element {
  const { href } = useScope()
  if (problem.code !== 'unknown_app') return <Failed problem={problem} retry={again} />
  return (
    <Empty icon="app" title="None of these apps is connected">
      <a class="button" href={href('/', { app: null, org: null })}>
        Show all apps
      </a>
    </Empty>
  )
}
