/** The search or the list of shortcuts, and the way from one to the other. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { NavigationView } from '../addresses.ts'
import { Palette } from './palette.tsx'
import { ShortcutList } from './shortcut_list.tsx'

export type SheetName = 'search' | 'shortcuts'
export type SheetProps = { first: SheetName; views: readonly NavigationView[]; onClose: () => void }

export function Sheets({ first, views, onClose }: SheetProps): JSX.Element {
  const [shown, setShown] = useState(first)
  // The search closes before the list opens, so that the focus returns to where it was before the search.
  const next = useRef<SheetName | null>(null)
  const onSearchClosed = (): void => (next.current === null ? onClose() : setShown(next.current))
  const onShortcuts = (): void => {
    next.current = 'shortcuts'
  }
  return shown === 'search' ? (
    <Palette views={views} onClose={onSearchClosed} onShortcuts={onShortcuts} />
  ) : (
    <ShortcutList views={views} onClose={onClose} />
  )
}
