/** The dialog that shares the metrics of a view. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { CreateCredential } from '../settings/access/credential_list.tsx'
import { linkKindOf } from '../settings/access/share_link_form.tsx'

type ShareDialogProps = { metrics: readonly string[] | null; onClose: () => void }

/** The form of a share link with these metrics chosen, or null for all, and then the link. */
export function ShareDialog({ metrics, onClose }: ShareDialogProps): JSX.Element {
  const kind = useMemo(() => linkKindOf(metrics), [metrics?.join()])
  return <CreateCredential kind={kind} onClose={onClose} />
}
