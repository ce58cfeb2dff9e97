/** One event in a dialog over the current view. */
import '../loading/event_views.ts'
import type { JSX } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { useScope } from '../scope.ts'
import { EventDetails } from './event_details.tsx'

export function EventDialog({ id, onClose }: { id: string; onClose: () => void }): JSX.Element {
  const { href } = useScope()
  return (
    <Dialog title="Event" onClose={onClose} isWide>
      <EventDetails id={id} Title="h3" />
      <div class="sheet-foot">
        <a class="button" href={href(`/events/${id}`)}>
          Open as page
        </a>
      </div>
    </Dialog>
  )
}
