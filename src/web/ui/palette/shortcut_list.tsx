/** The list of keyboard shortcuts, where single keys can be switched off. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { NavigationView } from '../addresses.ts'
import { hasSingleKeys, SEARCH_KEYS } from '../frame/strokes.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useSession } from '../session.ts'
import { Keys } from './keys.tsx'
import { setSingleKeys } from './single_keys.ts'

type ShortcutsProps = { title: string; shortcuts: readonly (readonly [what: string, keys: JSX.Element])[] }

const Shortcuts = ({ title, shortcuts }: ShortcutsProps): JSX.Element => (
  <section class="stack-s">
    <h3>{title}</h3>
    <dl class="shortcuts">
      {shortcuts.map(([what, keys]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{keys}</dd>
        </div>
      ))}
    </dl>
  </section>
)

type Props = { views: readonly NavigationView[]; onClose: () => void }

export function ShortcutList({ views, onClose }: Props): JSX.Element {
  const [isOn, setOn] = useState(hasSingleKeys)
  const isGuest = useSession().state === 'guest'
  const titleOf = ({ navigation }: NavigationView): string =>
    isGuest && 'guestTitle' in navigation ? navigation.guestTitle : navigation.title
  const toggle = (): void => {
    setSingleKeys(!isOn)
    setOn(!isOn)
  }
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="stack">
        <Shortcuts title="Everywhere" shortcuts={[['Search', <kbd key="search">{SEARCH_KEYS.shown}</kbd>]]} />
        <label class="row small">
          <input type="checkbox" checked={isOn} onClick={toggle} />
          Use single keys as shortcuts
        </label>
        {isOn && (
          <>
            <Shortcuts
              title="Single keys, outside of text fields"
              shortcuts={[
                ['Search in the view, or everywhere', <Keys key="/" keys="/" />],
                ['This list', <Keys key="?" keys="?" />],
              ]}
            />
            <Shortcuts
              title="Views"
              shortcuts={views.map((view) => [
                titleOf(view),
                <Keys key={view.path} keys={`g ${view.navigation.key}`} />,
              ])}
            />
          </>
        )}
      </div>
    </Dialog>
  )
}
