/** The search over pages, metrics, customers, apps and actions: a combobox with a list (WAI-ARIA). */
import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { NavigationView } from '../addresses.ts'
import { isSearchPress } from '../frame/strokes.ts'
import { problemFrom } from '../queries.ts'
import type { Choice } from './choice.ts'
import { Field } from './field.tsx'
import { Foot, type Outcome } from './foot.tsx'
import { useFound } from './found.ts'
import { List } from './list.tsx'
import { addRecent } from './recent.ts'

/** The active choice of a list: the first until another is chosen for the same text. */
function useActive(text: string, choices: readonly Choice[]) {
  const [chosen, setChosen] = useState({ text, id: '' })
  const at = chosen.text === text ? choices.findIndex(({ id }) => id === chosen.id) : -1
  const index = Math.max(at, 0)
  const activate = (next: Choice | undefined): void => {
    if (next) setChosen({ text, id: next.id })
  }
  const move = (by: number): void => activate(choices[(index + by + choices.length) % choices.length])
  return { active: choices[index], activate, move }
}

/** Opens an address of the dashboard, also a card of the view in sight. */
function useOpen(): (href: string) => void {
  const { route } = useLocation()
  return (href) => {
    route(href)
    const card = href.split('#')[1]
    if (card) document.getElementById(card)?.scrollIntoView()
  }
}

/** Runs choices. A page closes the search; so does an action without a message. */
function useChoose(close: () => void): {
  choose: (choice: Choice, inNewTab: boolean) => void
  outcome: Outcome | null
  clear: () => void
} {
  const open = useOpen()
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const run = (choice: Extract<Choice, { run: unknown }>): void => {
    choice
      .run()
      .then((message) => (message === null ? close() : setOutcome({ message, isFailure: false })))
      .catch((error: unknown) => setOutcome({ message: problemFrom(error).message, isFailure: true }))
  }
  const choose = (choice: Choice, inNewTab: boolean): void => {
    addRecent(choice)
    if ('run' in choice) return run(choice)
    if (inNewTab) return void window.open(choice.href, '_blank', 'noopener')
    close()
    open(choice.href)
  }
  return { choose, outcome, clear: () => setOutcome(null) }
}

type Props = { views: readonly NavigationView[]; onClose: () => void; onShortcuts: () => void }

export function Palette({ views, onClose, onShortcuts }: Props): JSX.Element {
  const id = useId()
  const box = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const found = useFound(text, views, onShortcuts)
  const choices = found.groups.flatMap((group) => group.choices)
  const { active, activate, move } = useActive(text, choices)
  const close = (): void => box.current?.close()
  const { choose, outcome, clear } = useChoose(close)
  useEffect(() => box.current?.showModal(), [])
  const idOf = (choice: Choice): string => `${id}-${choices.indexOf(choice)}`
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Enter' && active) choose(active, event.ctrlKey || event.metaKey)
    else if (isSearchPress(event)) close()
    else return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog, too
    <dialog
      ref={box}
      class="sheet palette"
      aria-label="Search"
      onClose={onClose}
      onClick={(event) => event.target === box.current && close()}
    >
      <Field
        text={text}
        listId={choices.length > 0 ? id : undefined}
        activeId={active && idOf(active)}
        onInput={(typed) => {
          clear()
          setText(typed)
        }}
        onKeyDown={onKeyDown}
        onClose={close}
      />
      {choices.length > 0 && (
        <List
          id={id}
          groups={found.groups}
          active={active}
          idOf={idOf}
          onActive={activate}
          onChoose={choose}
        />
      )}
      <Foot text={text} found={found} outcome={outcome} count={choices.length} />
    </dialog>
  )
}
