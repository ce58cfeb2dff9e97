/** The listbox of the search: choices in groups. The focus stays in the field, and the active choice is marked. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { hasSingleKeys } from '../frame/strokes.ts'
import { Icon } from '../parts/icons.tsx'
import type { Choice } from './choice.ts'
import { Keys } from './keys.tsx'
import type { Group } from './matching.ts'

type Handlers = {
  idOf: (choice: Choice) => string
  onActive: (choice: Choice) => void
  onChoose: (choice: Choice, inNewTab: boolean) => void
}
type Props = Handlers & { id: string; groups: readonly Group[]; active: Choice | undefined }

export function List({ id, groups, active, ...handlers }: Props): JSX.Element {
  const list = useRef<HTMLDivElement>(null)
  const activeId = active && handlers.idOf(active)
  useEffect(() => {
    // The heading of the first group comes into sight with the first choice.
    if (active === groups[0]?.choices[0]) list.current?.scrollTo(0, 0)
    else document.getElementById(activeId ?? '')?.scrollIntoView({ block: 'nearest' })
  }, [active?.id])
  return (
    <div ref={list} id={id} role="listbox" aria-label="Found" class="palette-list">
      {groups.map((group, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a listbox
        <div key={group.title} role="group" aria-labelledby={`${id}-group-${index}`}>
          <div id={`${id}-group-${index}`} role="presentation" class="palette-group">
            {group.title}
          </div>
          {group.choices.map((choice) => (
            <Row key={choice.id} choice={choice} isActive={choice.id === active?.id} {...handlers} />
          ))}
        </div>
      ))}
    </div>
  )
}

type RowProps = Handlers & { choice: Choice; isActive: boolean }

/** The keyboard reaches a row through the field. */
const Row = ({ choice, isActive, idOf, onActive, onChoose }: RowProps): JSX.Element => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
  // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names this row as its active one
  <div
    id={idOf(choice)}
    role="option"
    aria-selected={isActive}
    class="palette-row"
    onPointerMove={() => isActive || onActive(choice)}
    onPointerDown={(event) => event.preventDefault()}
    onClick={(event) => onChoose(choice, event.ctrlKey || event.metaKey)}
  >
    <Icon name={choice.icon} />
    <span class="palette-text">
      <bdi class="cut">{choice.title}</bdi>
      {choice.note && <span class="cut quiet small">{choice.note}</span>}
    </span>
    <span>
      {choice.badge && <span class={`badge ${choice.badge.tone}`}>{choice.badge.title}</span>}
      {choice.keys && hasSingleKeys() && (
        <span aria-hidden="true">
          <Keys keys={choice.keys} />
        </span>
      )}
    </span>
  </div>
)
