/** The theme: light, dark or the system's. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
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

/** Changes between the light and the dark theme. The browser stores the choice. */
export function toggleTheme(): void {
  const theme = isDark() ? 'light' : 'dark'
  document.documentElement.dataset.theme = theme
  localStorage.setItem('theme', theme)
  window.dispatchEvent(new Event(THEME_CHANGED))
}

export function ThemeButton(): JSX.Element {
  const [dark, setDark] = useState(isDark)
  useEffect(() => {
    const update = (): void => setDark(isDark())
    window.addEventListener(THEME_CHANGED, update)
    return () => window.removeEventListener(THEME_CHANGED, update)
  }, [])
  return (
    <button
      type="button"
      class="button plain icon"
      onClick={toggleTheme}
      aria-label={dark ? 'Light theme' : 'Dark theme'}
    >
      <Icon name={dark ? 'sun' : 'moon'} />
    </button>
  )
}
