/** A relative time with the exact instant as its tooltip. */
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
