/** What can be done from anywhere. */
import { signOut } from '../frame/sign_out.ts'
import { hasSingleKeys } from '../frame/strokes.ts'
import { isDark, toggleTheme } from '../frame/theme.tsx'
import { Problem } from '../http.ts'
import type { Choice } from './choice.ts'
import { setSingleKeys } from './single_keys.ts'

/** Copies the address of the view, which contains its scope. @throws Problem without access to the clipboard */
async function copyAddress(): Promise<string> {
  try {
    await navigator.clipboard.writeText(location.href)
    return 'Link copied'
  } catch {
    throw new Problem(
      0,
      'no_clipboard',
      'This browser lets the page copy only over https. Copy the address bar instead.',
    )
  }
}

/** `onShortcuts` opens the list of shortcuts. */
export const actionChoices = (onShortcuts: () => void): Choice[] => [
  {
    id: 'action:theme',
    group: 'Actions',
    title: isDark() ? 'Light theme' : 'Dark theme',
    words: 'switch appearance mode color dark light',
    icon: isDark() ? 'sun' : 'moon',
    isOffered: true,
    async run() {
      toggleTheme()
      return null
    },
  },
  {
    id: 'action:copy_link',
    group: 'Actions',
    title: 'Copy link to this view',
    words: 'share address url',
    icon: 'copy',
    isOffered: true,
    run: copyAddress,
  },
  {
    id: 'action:shortcuts',
    group: 'Actions',
    title: 'Keyboard shortcuts',
    words: 'keys help hotkeys',
    icon: 'question',
    keys: '?',
    isOffered: true,
    async run() {
      onShortcuts()
      return null
    },
  },
  {
    id: 'action:single_keys',
    group: 'Actions',
    title: hasSingleKeys() ? 'Switch off single-key shortcuts' : 'Switch on single-key shortcuts',
    words: 'keyboard disable enable',
    icon: 'settings',
    async run() {
      setSingleKeys(!hasSingleKeys())
      return `Single-key shortcuts are ${hasSingleKeys() ? 'on' : 'off'}`
    },
  },
  {
    id: 'action:sign_out',
    group: 'Actions',
    title: 'Sign out',
    words: 'log out leave end session',
    icon: 'leave',
    isOffered: true,
    isOnce: true,
    async run() {
      await signOut()
      return null
    },
  },
]
