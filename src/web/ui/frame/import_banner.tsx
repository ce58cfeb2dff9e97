/** The notice that the first import runs, during which figures change. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useSession } from '../session.ts'
import { FIRST_IMPORT, useStatus } from '../today/status.ts'
import { share } from '../words.ts'

/** While it runs. The import of a small company takes less than a minute. */
const RUNNING_INTERVAL_MS = 3_000

/** Nothing for guests, and when the import is done. */
export function ImportBanner(): JSX.Element | null {
  const [isRunning, setRunning] = useState(false)
  const status = useStatus(useSession().state !== 'owner', isRunning ? RUNNING_INTERVAL_MS : undefined)
  const row = status.data?.rows.find(({ id }) => id === FIRST_IMPORT)
  if (isRunning !== (row !== undefined)) setRunning(row !== undefined)
  if (!row?.progress) return null
  const { done, of } = row.progress
  return (
    <section class="banner calm" aria-label="Import">
      <progress value={done} max={of} aria-label={row.title} />
      <span>
        {row.title}: {share(done / of, 0)}. {row.detail}
      </span>
    </section>
  )
}
