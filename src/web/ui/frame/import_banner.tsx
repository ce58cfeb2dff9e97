/** The notice that the first import runs, during which figures change. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useSession } from '../session.ts'
import { FIRST_IMPORT, useStatus } from '../today/status.ts'
import { share } from '../words.ts'

/** While it runs. The import of a small company takes less than a minute. */
const RUNNING_INTERVAL_MS = 3_000

/** `done` is the part of the import that is done, from 0 to 1. */
type Progress = { title: string; done: number; detail: string }

/** Guests cannot read the status. Their session says how much is done. */
const GUEST_TEXTS = {
  title: 'Windfall is importing a year of history',
  detail: 'Figures change until it is done.',
}

function useOwnersProgress(isOwner: boolean): Progress | null {
  const [isRunning, setRunning] = useState(false)
  const status = useStatus(!isOwner, isRunning ? RUNNING_INTERVAL_MS : undefined)
  const row = status.data?.rows.find(({ id }) => id === FIRST_IMPORT)
  if (isRunning !== (row !== undefined)) setRunning(row !== undefined)
  if (!row?.progress) return null
  const { done, of } = row.progress
  return { title: row.title, done: done / of, detail: row.detail }
}

/** Nothing when the import is done. */
export function ImportBanner(): JSX.Element | null {
  const { state, importing } = useSession()
  const owners = useOwnersProgress(state === 'owner')
  const progress = importing === null ? owners : { ...GUEST_TEXTS, done: importing }
  if (progress === null) return null
  const { title, done, detail } = progress
  return (
    <section class="banner calm" aria-label="Import">
      <progress value={done} aria-label={title} />
      <span>
        {title}: {share(done, 0)}. {detail}
      </span>
    </section>
  )
}
