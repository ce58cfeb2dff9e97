/** Opens the search and the list of shortcuts, whose code loads when it is first needed, and runs the shortcuts. */
import type { FunctionComponent, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { NavigationView } from '../addresses.ts'
import { Unloaded } from '../loading/unloaded_view.tsx'
import type { SheetName, SheetProps } from '../palette/sheets.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { hrefInScope } from '../scope.ts'
import { hasSingleKeys, isSearchPress, openStrokes, SEARCH_KEYS } from './strokes.ts'

const UnloadedSheet = ({ onClose }: SheetProps): JSX.Element => (
  <Dialog title="Search" onClose={onClose}>
    <Unloaded what="The search" />
  </Dialog>
)

const loadSheet = (): Promise<FunctionComponent<SheetProps>> =>
  import('../palette/sheets.tsx').then(({ Sheets }) => Sheets).catch(() => UnloadedSheet)

/** Whether a press belongs to something else: a dialog, or the composition of a character. */
const isTaken = ({ defaultPrevented, isComposing }: KeyboardEvent): boolean =>
  defaultPrevented || isComposing || document.querySelector('dialog[open]') !== null

/** Whether single keys belong to the focused control or to a menu. */
const isTyping = ({ target }: Event): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable], [popover]') !== null

/** Moves the focus to the search field of the view. Returns false if there is none. */
function focusViewSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]')
  field?.select()
  field?.focus()
  return field !== null
}

type Open = (name: SheetName) => void

/** `isOpening`: keys that are pressed while a sheet loads do nothing. */
function useStrokes(views: readonly NavigationView[], open: Open, isOpening: boolean): void {
  const { query, route } = useLocation()
  const strokes = useRef(openStrokes())
  const runs = new Map<string | null, () => void>([
    [SEARCH_KEYS.shown, () => open('search')],
    ['/', () => focusViewSearch() || open('search')],
    ['?', () => open('shortcuts')],
  ])
  const onPress = (event: KeyboardEvent): void => {
    if (isOpening || isTaken(event)) return
    const isSearch = isSearchPress(event)
    if (!isSearch && (isTyping(event) || !hasSingleKeys())) return
    const stroke = isSearch ? SEARCH_KEYS.shown : strokes.current(event)
    const view = views.find(({ navigation }) => stroke === `g ${navigation.key}`)
    const run = view ? () => route(hrefInScope(view.path, query)) : runs.get(stroke)
    if (!run) return
    event.preventDefault()
    run()
  }
  const latest = useRef(onPress)
  latest.current = onPress
  useEffect(() => {
    // A browser that fills in a form sends events without a key.
    const listen = (event: Event): void => {
      if (event instanceof KeyboardEvent) latest.current(event)
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}

/** Runs the shortcuts. Returns what opens the search, and the open sheet. */
export function useCommands(views: readonly NavigationView[]): {
  search: () => void
  sheet: JSX.Element | null
} {
  const [first, setFirst] = useState<SheetName | null>(null)
  const [loaded, setLoaded] = useState<{ Sheet: FunctionComponent<SheetProps> } | null>(null)
  const open: Open = (name) => {
    // The focus returns to the button of the menu, because the dialog closes the menu.
    document.activeElement?.closest<HTMLElement>('[popover]')?.hidePopover()
    setFirst(name)
    if (!loaded) void loadSheet().then((Sheet) => setLoaded({ Sheet }))
  }
  useStrokes(views, open, first !== null)
  const close = (): void => {
    setFirst(null)
    if (loaded?.Sheet === UnloadedSheet) setLoaded(null)
  }
  const sheet = first && loaded && <loaded.Sheet first={first} views={views} onClose={close} />
  return { search: () => open('search'), sheet }
}

export const SearchButton = ({
  class: className,
  onClick,
}: {
  class?: string
  onClick: () => void
}): JSX.Element => (
  <button
    type="button"
    class={className}
    aria-haspopup="dialog"
    aria-keyshortcuts={SEARCH_KEYS.aria}
    onClick={onClick}
  >
    <Icon name="search" />
    <span>Search</span>
    <span class="keys" aria-hidden="true">
      <kbd>{SEARCH_KEYS.shown}</kbd>
    </span>
  </button>
)
