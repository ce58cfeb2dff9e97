/** What went wrong with something that was asked for, in the server's words; nothing where nothing did. */
import type { JSX } from 'preact'

export const ErrorMessage = ({ message }: { message: string | null }): JSX.Element | null =>
  message === null ? null : (
    <p class="notice bad" role="alert">
      {message}
    </p>
  )
