/** What went wrong with something that was asked for, in the server's words; nothing where nothing did. */
import type { JSX } from 'preact'

export const Wrong = ({ words }: { words: string | null }): JSX.Element | null =>
  words === null ? null : (
    <p class="notice bad" role="alert">
      {words}
    </p>
  )
