/** Text with a copy button. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

/** Copies a text. Without clipboard access, as over plain HTTP, selects the text so that the keyboard can copy it. */
async function copyText(text: string, textElement: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    if (textElement) getSelection()?.selectAllChildren(textElement)
    return false
  }
}

/** How to run the program: the build defines it for the form that it builds. */
declare const COMMAND_NAME: string

/** A command, such as `windfall owner reset`, as it is run on this server. */
export const commandLine = (command: string): string => command.replace(/^windfall\b/, COMMAND_NAME)

export const CommandCopy = ({
  text,
  label = 'the command',
}: {
  text: string
  label?: string
}): JSX.Element => <Copy text={commandLine(text)} label={label} />

type CopyButtonProps = {
  text: string
  /** What is copied, for screen readers. */
  label: string
}
/** Copies `text`. It selects the element before it if the clipboard is not available. */
export function CopyButton({ text, label }: CopyButtonProps): JSX.Element {
  const [message, setMessage] = useState('')
  const copy = async (event: Event): Promise<void> => {
    const textElement = (event.currentTarget as HTMLElement).previousElementSibling as HTMLElement | null
    setMessage((await copyText(text, textElement)) ? 'Copied' : 'Selected: copy it with the keyboard')
    setTimeout(() => setMessage(''), 2000)
  }
  return (
    <button type="button" class="button plain" aria-label={`Copy ${label}`} onClick={copy}>
      <Icon name={message === 'Copied' ? 'check' : 'copy'} />
      <span role="status" class={message === '' || message === 'Copied' ? 'spoken' : 'tiny'}>
        {message}
      </span>
    </button>
  )
}

export const Copy = ({
  text,
  label,
  isBlock = false,
}: CopyButtonProps & { isBlock?: boolean }): JSX.Element => (
  <div class="copy">
    {isBlock ? <pre>{text}</pre> : <code>{text}</code>}
    <CopyButton text={text} label={label} />
  </div>
)
