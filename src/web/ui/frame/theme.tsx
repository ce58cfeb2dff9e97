/** Light, dark, or as the system has it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'

/** Of the system; each new question about it makes the browser style the page. */
let system: MediaQueryList | undefined

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset
  if (theme !== undefined) return theme === 'dark'
  system ??= matchMedia('(prefers-color-scheme: dark)')
  return system.matches
}

/** What wants to be drawn in other colours listens for this on `window`. */
export const THEME_CHANGED = 'themechanged'

export function ThemeButton(): JSX.Element {
  const [dark, setDark] = useState(isDark)
  const turn = (): void => {
    const theme = dark ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    localStorage.setItem('theme', theme)
    setDark(!dark)
    window.dispatchEvent(new Event(THEME_CHANGED))
  }
  return (
    <button
      type="button"
      class="button plain icon"
      onClick={turn}
      aria-label={dark ? 'Light theme' : 'Dark theme'}
    >
      <Icon name={dark ? 'sun' : 'moon'} />
    </button>
  )
}
