/** The error message of an action, or nothing. */
import type { JSX } from 'preact'

export const ErrorMessage = ({ message }: { message: string | null }): JSX.Element | null =>
  message === null ? null : (
    <p class="notice bad" role="alert">
      {message}
    </p>
  )
