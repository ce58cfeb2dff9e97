/** Text in which backticks mark code. Commands of Windfall are shown as this server runs them. */
import type { JSX } from 'preact'
import { commandLine } from './copy.tsx'

/** `windfall` and a command, in contrast to a file such as `windfall.key`. */
const COMMAND = /^windfall [a-z]/

export const CodeProse = ({ text }: { text: string }): JSX.Element => (
  <>
    {text
      .split('`')
      .map((part, index) =>
        index % 2 === 1 ? <code key={part}>{COMMAND.test(part) ? commandLine(part) : part}</code> : part,
      )}
  </>
)
