/** The button that shares the metrics of a view. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApps } from '../apps.ts'
import { lateDialog } from '../loading/late.tsx'
import { Icon } from '../parts/icons.tsx'
import { useSession } from '../session.ts'

const ShareDialog = lateDialog('Share', () =>
  import('./share_dialog.tsx').then((module) => module.ShareDialog),
)

/**
 * Opens the form of a share link with these metrics chosen, or null for all. Guests do not see it, nor does an owner without
 * apps.
 */
export function ShareButton({ metrics }: { metrics: readonly string[] | null }): JSX.Element | null {
  const { state } = useSession()
  const apps = useApps().data?.apps
  const [isOpen, setOpen] = useState(false)
  if (state !== 'owner' || apps?.length === 0) return null
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        <Icon name="share" /> Share
      </button>
      {isOpen && <ShareDialog metrics={metrics} onClose={() => setOpen(false)} />}
    </>
  )
}
