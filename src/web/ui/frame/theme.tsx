/** The theme: light, dark or the system's. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'

/** The media query of the system theme. It is cached, because each new media query forces a style recalculation. */
let system: MediaQueryList | undefined

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset
  if (theme !== undefined) return theme === 'dark'
  system ??= matchMedia('(prefers-color-scheme: dark)')
  return system.matches
}

/** The event that is dispatched on `window` after a theme change. */
export const THEME_CHANGED = 'themechanged'

export function ThemeButton(): JSX.Element {
  const [dark, setDark] = useState(isDark)
  const toggle = (): void => {
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
      onClick={toggle}
      aria-label={dark ? 'Light theme' : 'Dark theme'}
    >
      <Icon name={dark ? 'sun' : 'moon'} />
    </button>
  )
}
