/** Light, dark, or as the system has it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'

const isDark = (): boolean =>
  (document.documentElement.dataset.theme ??
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'

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
      aria-label={dark ? 'Light colours' : 'Dark colours'}
    >
      <Icon name={dark ? 'sun' : 'moon'} />
    </button>
  )
}
