/** The events of a feed as a list, newest first. */
import type { JSX } from 'preact'
import { appName, useApps } from '../apps.ts'
import { useNow } from '../now.ts'
import { useScope } from '../scope.ts'
import type { LiveFeed } from './live_feed.ts'
import { EventRow } from './row.tsx'

type RowsProps = {
  feed: LiveFeed
  label: string
  /** Link target of an event by its id; the customer by default. */
  to?: (id: string) => string
  /** Event handlers of the list, such as pointer events. */
  holding?: object
}

export function EventRows({ feed, label, to, holding }: RowsProps): JSX.Element {
  const now = useNow(15_000)
  const { href, scope } = useScope()
  const apps = useApps().data?.apps
  const isMixed = (apps?.length ?? 0) > 1 && scope.apps.length !== 1
  return (
    <ol class="happenings" aria-label={label} {...holding}>
      {feed.loaded?.events.map((event) => (
        <EventRow
          key={event.seq}
          event={event}
          app={isMixed && event.app_id ? appName(apps, event.app_id) : null}
          now={now}
          isNew={event.seq > feed.firstNewestSeq}
          href={href}
          {...(to && { to: to(event.id) })}
        />
      ))}
    </ol>
  )
}
