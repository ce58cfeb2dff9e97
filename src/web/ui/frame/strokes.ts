/** What the presses of keys mean: the shortcut of the search, single keys, and G before the key of a view. */

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform)
/** The shortcut that opens the search, as it is shown and as `aria-keyshortcuts` names it. */
export const SEARCH_KEYS = isMac ? { shown: '⌘K', aria: 'Meta+K' } : { shown: 'Ctrl K', aria: 'Control+K' }

type Press = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'timeStamp'>

/** The character of a key in lower case. On keyboards without Latin letters, the letter at its place. */
const characterOf = ({ key, code }: Press): string =>
  /^[ -~]+$/.test(key) ? key.toLowerCase() : code.replace(/^Key/, '').toLowerCase()

/** Whether the press is ⌘K on Apple's keyboards, where Ctrl+K edits text, and Ctrl+K on others. */
export const isSearchPress = (press: Press, onMac = isMac): boolean =>
  characterOf(press) === 'k' &&
  press.metaKey === onMac &&
  press.ctrlKey !== onMac &&
  !press.altKey &&
  !press.shiftKey

/** A key belongs to a G that was pressed at most this long before. */
const SEQUENCE_MS = 2_000

/** Reads one press after the other: `?`, `r`, or `g r` after a G; null for a G itself, and with a modifier. */
export function openStrokes(): (press: Press) => string | null {
  let prefixedAt = Number.NEGATIVE_INFINITY
  return (press) => {
    const isPrefixed = press.timeStamp - prefixedAt <= SEQUENCE_MS
    prefixedAt = Number.NEGATIVE_INFINITY
    const character = characterOf(press)
    const isShifted = press.shiftKey && /^[a-z]$/.test(character)
    if (press.ctrlKey || press.metaKey || press.altKey || isShifted) return null
    if (isPrefixed) return `g ${character}`
    if (character !== 'g') return character
    prefixedAt = press.timeStamp
    return null
  }
}

/** Whether single keys are shortcuts. The viewer can switch them off (WCAG 2.1.4), and the browser stores that. */
export const hasSingleKeys = (): boolean => localStorage.getItem('single_keys') !== 'off'
