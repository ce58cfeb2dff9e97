/** Text in which backticks mark code. */
import type { JSX } from 'preact'

export const CodeProse = ({ text }: { text: string }): JSX.Element => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
)
