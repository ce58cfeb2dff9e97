/** Words of the server’s in which `this` is something to type. */
import type { JSX } from 'preact'

export const CodeProse = ({ text }: { text: string }): JSX.Element => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
)
