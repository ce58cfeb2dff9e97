/** An instant as people say it, with the exact one a hover away. */
import type { JSX } from 'preact'
import { useNow } from '../now.ts'
import { ago, instant, UNKNOWN } from '../words.ts'

export function RelativeTime({ at, never = UNKNOWN }: { at: number | null; never?: string }): JSX.Element {
  const now = useNow()
  if (at === null) return <span class="quiet">{never}</span>
  return (
    <time dateTime={new Date(at).toISOString()} title={instant(at)}>
      {ago(at, now)}
    </time>
  )
}
