/** The tabs of the events view: log, gaps, coverage. */
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useScope } from '../scope.ts'

const TABS = [
  { path: '/events', title: 'Log' },
  { path: '/gaps', title: 'Gaps' },
  { path: '/coverage', title: 'Coverage' },
]

export function EventTabs(): JSX.Element {
  const { path } = useLocation()
  const { href } = useScope()
  return (
    <nav class="segments" aria-label="Events">
      {TABS.map((tab) => (
        <a key={tab.path} href={href(tab.path)} aria-current={path === tab.path ? 'page' : undefined}>
          {tab.title}
        </a>
      ))}
    </nav>
  )
}
