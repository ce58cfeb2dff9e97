/** A dialog with a new secret, which is shown only once. */
import type { JSX } from 'preact'
import { Copy } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'

type ShownOnceProps = { title: string; text: string; label: string; note: string; onClose: () => void }

export const ShownOnce = ({ title, text, label, note, onClose }: ShownOnceProps): JSX.Element => (
  <Dialog title={title} onClose={onClose}>
    <div class="stack">
      <Copy text={text} label={label} />
      <p class="small quiet">{note}</p>
    </div>
    <div class="sheet-foot">
      <button type="button" class="button main" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
)
