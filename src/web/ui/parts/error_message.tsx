/** The error message of an action, or nothing. */
import type { JSX } from 'preact'
import { CodeProse } from './code_prose.tsx'

export const ErrorMessage = ({ message }: { message: string | null }): JSX.Element | null =>
  message === null ? null : (
    <p class="notice bad" role="alert">
      <CodeProse text={message} />
    </p>
  )
