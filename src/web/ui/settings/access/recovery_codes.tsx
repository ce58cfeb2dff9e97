/** New recovery codes, which are shown only once. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'

const FILE_NAME = 'windfall-recovery-codes.txt'

/** The URL of a text file, until the component is removed. */
function useFileUrl(text: string): string {
  const [url, setUrl] = useState('')
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [text])
  return url
}

export function RecoveryCodes({ codes, onClose }: { codes: string[]; onClose: () => void }): JSX.Element {
  const text = codes.join('\n')
  const file = useFileUrl(`Recovery codes of Windfall at ${location.host}. Each works once.\n\n${text}\n`)
  return (
    <Dialog title="Recovery codes" onClose={onClose}>
      <div class="stack">
        <p class="small">
          Keep these codes where you can reach them without your phone. Each signs you in once, in place of a
          code of the app. They are not shown again.
        </p>
        <div class="copy">
          <pre class="recovery-codes">{text}</pre>
          <CopyButton text={text} label="the recovery codes" />
        </div>
      </div>
      <div class="sheet-foot">
        <a class="button" href={file} download={FILE_NAME}>
          Download
        </a>
        <button type="button" class="button main" onClick={onClose}>
          I saved the codes
        </button>
      </div>
    </Dialog>
  )
}
