/** The field of the search. It keeps the focus and names the active choice to screen readers. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { useSession } from '../session.ts'

/** What is searched: in the label of the field, and in its hint. */
const OWNERS = {
  label: 'Search pages, metrics, customers, apps and actions',
  hint: 'Page, metric, customer, action …',
}
const GUESTS = { label: 'Search pages, metrics, apps and actions', hint: 'Page, metric, app, action …' }

type Props = {
  text: string
  /** The ids of the list and of the active choice; undefined if nothing is listed. */
  listId: string | undefined
  activeId: string | undefined
  onInput: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
  onClose: () => void
}

export function Field({ text, listId, activeId, onInput, onKeyDown, onClose }: Props): JSX.Element {
  const { label, hint } = useSession().state === 'owner' ? OWNERS : GUESTS
  return (
    <div class="palette-field">
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={listId !== undefined}
        aria-controls={listId}
        aria-activedescendant={activeId}
        placeholder={hint}
        autocomplete="off"
        autocapitalize="off"
        enterkeyhint="go"
        spellcheck={false}
        maxLength={200}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" class="button plain icon" aria-label="Close" onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  )
}
