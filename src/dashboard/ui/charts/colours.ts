/** Colours of the page as canvases need them: computed, and anew when the theme changes. */
import { useEffect, useState } from 'preact/hooks'
import { THEME_CHANGED } from '../frame/theme.tsx'

/** One of eight, or a mood. */
export type Hue = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 'good' | 'bad'

export const hueOf = (index: number): Hue => ((index % 8) + 1) as Hue
export const hueClass = (hue: Hue): string => `hue-${hue}`

/** A custom property as a colour that a canvas takes: `light-dark()` is decided by the element it is used on. */
export function colour(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

export const hueColour = (hue: Hue): string => colour(typeof hue === 'number' ? `--hue-${hue}` : `--${hue}`)

/** A number that changes with the theme. */
export function useTheme(): number {
  const [turns, turn] = useState(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const look = (): void => turn((count) => count + 1)
    dark.addEventListener('change', look)
    window.addEventListener(THEME_CHANGED, look)
    return () => {
      dark.removeEventListener('change', look)
      window.removeEventListener(THEME_CHANGED, look)
    }
  }, [])
  return turns
}
